import { parseJson } from '../parse-json.ts';
import type { Said } from './compare.ts';
import { readStatements } from './statement.ts';

/** What the fields of a thought say about tests and commits. A tampered text says nothing. */
export function readExtras(extras: string): Pick<Said, 'field' | 'value'>[] {
  try {
    const { tests_run, commit_sha } = parseJson(extras) as Readonly<Record<string, unknown>>;
    const tests = (Array.isArray(tests_run) ? tests_run : []).filter((item) => typeof item === 'string');
    return [
      ...tests.map((value) => ({ field: 'tests_run' as const, value })),
      ...(typeof commit_sha === 'string' ? [{ field: 'commit_sha' as const, value: commit_sha }] : []),
    ];
  } catch {
    return [];
  }
}

/** The commands that the items may name. */
export function commandsOf(said: readonly Said[]): ReadonlySet<string> {
  const items = said.filter(({ field }) => field === 'tests_run');
  return new Set(items.flatMap(({ value }) => readStatements(value).map(({ command }) => command)));
}
