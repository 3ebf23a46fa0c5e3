import { parse } from 'yaml';
import { toError } from '../../errors.ts';
import { frontMatter, type Skill } from './schema.ts';

/** Without a version of its own a skill sorts before every released one. */
const NO_VERSION = '0.0.0';
/** Several times what the format's fields hold; the parser's time grows with the square of keys and depth. */
const MAX_FRONT_MATTER = 8_192;

/** Every scalar is read as the text that was written: a version of 1.10 is not the number 1.1. */
const YAML = {
  schema: 'failsafe',
  // Enough for lists that repeat themselves; far too few for a bomb.
  maxAliasCount: 20,
  prettyErrors: false,
  logLevel: 'error',
} as const;

/** Reads the text of a SKILL.md; throws an Error whose message is the defect. */
export function parseSkill(text: string, folder: string, path: string): Skill {
  const { name, description, version, capabilities, metadata } = readFrontMatter(text);
  if (name !== folder) throw new Error(`name: "${name}" must be the name of its folder, "${folder}"`);
  return {
    name,
    version: version ?? metadata?.version ?? NO_VERSION,
    description,
    capabilities: capabilities ?? metadata?.capabilities ?? [],
    path,
  };
}

function readFrontMatter(text: string) {
  const block = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text)?.[1];
  if (block === undefined) throw new Error('has no front matter between two lines of ---');
  if (block.length > MAX_FRONT_MATTER) throw new Error(`front matter: is longer than ${MAX_FRONT_MATTER} characters`);
  const parsed = frontMatter.safeParse(readYaml(block));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`${issue?.path.join('.') || 'front matter'}: ${issue?.message}`);
}

function readYaml(block: string): unknown {
  try {
    return parse(block, YAML);
  } catch (error) {
    // The parser gives an overflow of its stack out as an error in the text, which it is.
    if (/call stack/.test(toError(error).message)) throw new Error('front matter: nests too deeply', { cause: error });
    throw error;
  }
}
