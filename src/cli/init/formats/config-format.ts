import type { TextEdit } from './text-edit.ts';

export type ServerEntry = Readonly<Record<string, unknown>>;

/** How a kind of configuration file is read and changed. Each method throws a Refusal for a text that is malformed. */
export interface ConfigFormat {
  /** What stands under these keys; undefined when nothing does. */
  find(text: string, keys: readonly string[]): unknown;
  /** The edits that put the entry there, where nothing stands yet. */
  add(text: string, keys: readonly string[], entry: ServerEntry): TextEdit[];
  /** The edits that take away what stands there, and the `emptied` objects around it that hold nothing else. */
  remove(text: string, keys: readonly string[], emptied: number): TextEdit[];
}
