import { type Entry, parseJson } from '../../integrity/index.ts';

/** The fields of an entry that notes use; any other field may have any value. */
export type EntryFields = Pick<Entry, 'kind' | 'at' | 'actor'> & Readonly<Record<string, unknown>>;

/**
 * Undefined if the text is not an entry. Without the checks of `parseEntry`, which take most of the time where the
 * whole log is read: verification is what reports an entry that is not canonical.
 */
export function readEntryFields(text: string): EntryFields | undefined {
  try {
    const value: unknown = parseJson(text);
    return isEntryFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isEntryFields(value: unknown): value is EntryFields {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, at, actor } = value as Partial<Record<string, unknown>>;
  return typeof kind === 'string' && typeof at === 'string' && typeof actor === 'string';
}
