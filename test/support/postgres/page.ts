import { readFileSync } from 'node:fs';

/** The blocks of one language in a section of docs/postgres.md: what people copy is what the tests run. */
export function blocksOf(section: string, language: 'sql' | 'sh'): string[] {
  const page = readFileSync('docs/postgres.md', 'utf8');
  const text = page.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? '';
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, block = '']) => block);
}
