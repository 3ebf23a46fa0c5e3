import { originOf, type VerifiedCheckpoint } from '../notes/checkpoint.ts';
import { type KeyStatement, keyStatementDefect } from '../notes/key-statement.ts';
import { formatVerifierKey, parseVerifierKey, type VerifierKey } from '../notes/signed-note.ts';
import type { Finding, OpenedEntry } from './verify.ts';

/** The keys that a reader trusts, and their successors by rotation. */
export function followRotations(entries: readonly OpenedEntry[], trusted: readonly VerifierKey[]): VerifierKey[] {
  const keys = new Map(trusted.map((key) => [formatVerifierKey(key), key]));
  for (const { fields } of entries) {
    if (fields.kind !== 'key.added') continue;
    const statement = fields as unknown as KeyStatement;
    const { key, replaces } = statement;
    if (replaces !== undefined && keys.has(replaces) && keyStatementDefect(statement) === undefined)
      keys.set(key, parseVerifierKey(key));
  }
  return [...keys.values()];
}

/** What the entries say about the keys of the log and about its identity. */
export function checkKeys(entries: readonly OpenedEntry[], { origin, signers }: VerifiedCheckpoint): Finding[] {
  const about = 'keys';
  const signing = new Set(signers.map(formatVerifierKey));
  for (const { index, fields } of entries) {
    if (fields.kind === 'genesis' && originOf(fields['ledger_id'] as string) !== origin)
      return [{ about, holds: 'no', says: `entry ${index} begins another log than ${origin}` }];
    if (fields.kind !== 'key.added') continue;
    const statement = fields as unknown as KeyStatement;
    const defect = keyStatementDefect(statement);
    if (defect !== undefined) return [{ about, holds: 'no', says: `entry ${index} introduces a key and ${defect}` }];
    if (statement.replaces !== undefined && signing.has(statement.replaces))
      return [{ about, holds: 'no', says: `entry ${index} replaces the key that has signed` }];
  }
  const introduction = entries.find(
    ({ fields }) => fields.kind === 'key.added' && signing.has(fields['key'] as string),
  );
  if (introduction === undefined) return [];
  return [{ about, holds: 'yes', says: `entry ${introduction.index} introduces the key that has signed` }];
}

/** A log that a person went on with although it did not extend what was signed. What it had lost is not in it. */
export function describeContinuation(entries: readonly OpenedEntry[]): Finding[] {
  return entries.flatMap(({ fields }): Finding[] => {
    const continues = fields['continues'] as { ledger_id: string; size: number } | undefined;
    if (fields.kind !== 'genesis' || continues === undefined) return [];
    const { ledger_id, size } = continues;
    const says = `this log continues the first ${size} entries of ${originOf(ledger_id)}; what else that log held cannot be known`;
    return [{ about: 'continuation', holds: 'unknown', says }];
  });
}
