import type { TextEdit } from './text-edit.ts';

export type ServerEntry = Readonly<Record<string, unknown>>;

/** Reads and edits one format of configuration file. Every method throws an InitError for malformed text. */
export interface ConfigFormat {
  /** Returns the value at these keys; undefined if there is none. */
  find(text: string, keys: readonly string[]): unknown;
  /** Returns the edits that add the entry; there must be no value at these keys. */
  add(text: string, keys: readonly string[], entry: ServerEntry | readonly ServerEntry[]): TextEdit[];
  /** Returns the edits that replace the value at these keys with the entry. */
  replace(text: string, keys: readonly string[], entry: ServerEntry): TextEdit[];
  /** Returns the edits that remove the value, and up to `emptied` enclosing objects that hold nothing else. */
  remove(text: string, keys: readonly string[], emptied: number): TextEdit[];
}
