import { parse } from 'yaml';
import { frontMatter, type Skill } from './schema.ts';

/** Without a version of its own a skill sorts before every released one. */
const NO_VERSION = '0.0.0';
/** Enough for lists that repeat themselves; far too few for a bomb. */
const MAX_ALIASES = 20;

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
  const parsed = frontMatter.safeParse(parse(block, { maxAliasCount: MAX_ALIASES, logLevel: 'error' }));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`${issue?.path.join('.') || 'front matter'}: ${issue?.message}`);
}
