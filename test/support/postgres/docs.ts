import { readFileSync } from 'node:fs';
import { tempFolder } from '../folders.ts';
import { runColibri } from '../program.ts';

interface Finding {
  readonly check: string;
  readonly status: string;
  readonly message: string;
  readonly fix?: string;
}

/** Runs `colibri doctor --json` on a ledger in PostgreSQL. */
export async function diagnose(url: string, env: Record<string, string> = {}) {
  const variables = { COLIBRI_DATABASE_URL: url, ...env };
  const { status, stdout, stderr } = await runColibri(['doctor', '--json'], variables, tempFolder());
  const { checks } = JSON.parse(stdout) as { checks: Finding[] };
  return { status, stderr, checks, find: (name: string) => checks.find(({ check }) => check === name) };
}

/** The blocks of one language in a section of docs/postgres.md: what people copy is what the tests run. */
export function blocksOf(section: string, language: 'sql' | 'sh'): string[] {
  const page = readFileSync('docs/postgres.md', 'utf8');
  const text = page.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? '';
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, block = '']) => block);
}
