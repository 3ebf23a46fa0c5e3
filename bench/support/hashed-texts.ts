import { type BundledEntry, parseEntry } from '../../src/integrity/index.ts';

const NODE = '.'.repeat(65);
const LABEL = 'colibri:arguments:v1\n0123456789abcdef';
const OF_THOUGHT = { task_id: 'T-0001', recorded_at: '2026-04-08T23:15:00.000Z', recorded_by: 'bench' };

/**
 * Texts as long as all that a verifier of these entries has to hash, each once: the leaves, what the entries disclose,
 * and the inner nodes of the log and of the sessions that are sealed.
 */
export function listHashed(entries: readonly BundledEntry[]): string[] {
  const texts = entries.flatMap(({ entry, disclosed }) => [
    `.${entry}`,
    ...(disclosed === undefined ? [] : [LABEL + disclosed.text]),
    ...(disclosed?.thought === undefined ? [] : [JSON.stringify({ ...OF_THOUGHT, ...disclosed.thought })]),
  ]);
  const sealed = entries
    .map(({ entry }) => parseEntry(entry))
    .filter((fields) => fields?.kind === 'session.finalized')
    .reduce((sum, fields) => sum + (fields?.['leaf_count'] as number) - 1, 0);
  // Flat strings: a rope would be flattened inside the measured loop.
  const flat = texts.map((text) => Buffer.from(text).toString());
  return [...flat, ...Array.from({ length: entries.length - 1 + sealed }, () => NODE)];
}
