import { parse } from 'yaml';
import { toError } from '../../errors.ts';
import { describeIssue } from '../../text/issue-text.ts';
import { frontMatter } from './schema.ts';
import type { Skill } from './skill.ts';

/** Sorts before every released version. */
const NO_VERSION = '0.0.0';
/** Generous for the format; the parser takes quadratic time in keys and depth. */
const MAX_FRONT_MATTER = 8_192;

/** Reads every scalar as text: version 1.10 must not become the number 1.1. */
const YAML = {
  schema: 'failsafe',
  resolveKnownTags: false,
  // Enough for repeated lists, too few for an alias bomb.
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
  const parsed = frontMatter.safeParse(readYaml(block), { error: describeIssue });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`${issue?.path.join('.') || 'front matter'}: ${issue?.message}`);
}

function readYaml(block: string): unknown {
  try {
    return parse(block, YAML);
  } catch (error) {
    // The parser reports a stack overflow as a syntax error.
    if (/call stack/.test(toError(error).message)) throw new Error('front matter: nests too deeply', { cause: error });
    throw error;
  }
}
