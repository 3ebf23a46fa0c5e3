import { disclosedDefect } from '../bundle/disclosed.ts';
import type { Finding, OpenedEntry } from '../bundle/verify.ts';
import { isErasable, isRedactable, isWithoutText, type Redaction, redactionNote } from './erasure.ts';

/** Keyed by the index of the redacted entry. */
type Redactions = ReadonlyMap<number, OpenedEntry>;

/** The entries of a bundle that redact others of it. */
export function findRedactions(entries: readonly OpenedEntry[]): Redactions {
  const redactions = new Map<number, OpenedEntry>();
  for (const entry of entries) {
    if (entry.fields.kind !== 'redaction') continue;
    const { redacts } = entry.fields as Redaction;
    if (!redactions.has(redacts)) redactions.set(redacts, entry);
  }
  return redactions;
}

/** What is wrong with the content that an entry discloses, if any. */
export function contentDefect({ index, fields, disclosed }: OpenedEntry, redactions: Redactions): string | undefined {
  const redaction = redactions.get(index);
  if (disclosed === undefined) return undefined;
  if (redaction === undefined) return disclosedDefect(fields, disclosed);
  const { remains } = redaction.fields as Redaction;
  if (remains === undefined || isErasable(fields.kind))
    return `was redacted by entry ${redaction.index} and discloses content`;
  const defect = disclosedDefect({ ...fields, task: remains }, disclosed);
  if (defect !== undefined) return `was redacted by entry ${redaction.index}, and what remains ${defect}`;
  const isClean = isWithoutText(disclosed.text, redactionNote(redaction.fields));
  return isClean ? undefined : `was redacted by entry ${redaction.index} and discloses text`;
}

const MAX_NAMED = 10;

/** Names the actors that removed content, and the entries. Says nothing about entries that are not here. */
export function checkRedactions(entries: readonly OpenedEntry[], redactions: Redactions): Finding[] {
  const about = 'redaction';
  const named: string[] = [];
  const redacted = new Map(entries.filter(({ index }) => redactions.has(index)).map((entry) => [entry.index, entry]));
  for (const redaction of entries) {
    if (redaction.fields.kind !== 'redaction') continue;
    const { redacts, remains, actor, at } = redaction.fields as Redaction;
    const target = redacted.get(redacts);
    if (target === undefined) continue;
    const { kind } = target.fields;
    if (redaction.index <= redacts || !isRedactable(kind) || isErasable(kind) !== (remains === undefined))
      return [{ about, holds: 'no', says: `entry ${redaction.index} redacts entry ${redacts}, which it cannot` }];
    if (redactions.get(redacts) !== redaction)
      return [{ about, holds: 'no', says: `entry ${redaction.index} redacts entry ${redacts} a second time` }];
    named.push(`entry ${redacts} by ${actor} at ${at} (entry ${redaction.index})`);
  }
  if (named.length === 0) return [];
  const more = named.length > MAX_NAMED ? ` and ${named.length - MAX_NAMED} more` : '';
  const what = named.length === 1 ? 'the content of 1 entry was' : `the contents of ${named.length} entries were`;
  return [{ about, holds: 'yes', says: `${what} redacted: ${named.slice(0, MAX_NAMED).join('; ')}${more}` }];
}
