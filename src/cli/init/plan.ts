import { type Client, configPath, SERVER_NAME } from './clients.ts';
import type { FileChange } from './disk.ts';
import { readText } from './disk.ts';
import type { ConfigFormat } from './formats/config-format.ts';
import { jsoncFormat } from './formats/jsonc-file.ts';
import { tomlFormat } from './formats/toml-file.ts';
import { Refusal } from './refusal.ts';

/** Where init works: a project, or the home folder when that was asked for. */
export interface Site {
  readonly root: string;
  readonly isGlobal: boolean;
}

export interface Plan {
  /** In the order in which they are written. */
  readonly changes: readonly FileChange[];
  /** What is left as it is, and why. */
  readonly notes: readonly string[];
  /** Folders that go when they are empty, innermost first. */
  readonly emptied: readonly string[];
}

/** A client's configuration file as it is. */
export interface ConfigFile {
  readonly path: string;
  readonly text: string | undefined;
  readonly format: ConfigFormat;
  /** The keys of our entry in it. */
  readonly keys: readonly string[];
  readonly current: unknown;
}

export const BYTE_ORDER_MARK = '\uFEFF';

export function readConfigFile(client: Client, { root, isGlobal }: Site): ConfigFile | undefined {
  const path = configPath(client, root, isGlobal);
  if (path === undefined) return undefined;
  const text = readText(root, path, isGlobal);
  const format = client.format === 'toml' ? tomlFormat : jsoncFormat;
  const body = bodyOf(text);
  return naming(path, () => {
    const keys = [...client.serversAt((place) => format.find(body, place)), SERVER_NAME];
    return { path, text, format, keys, current: format.find(body, keys) };
  });
}

/** Without the mark that some editors put first, which parsers take for a character. */
export function bodyOf(text: string | undefined): string {
  return text?.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : (text ?? '');
}

/** The same change in the text with its mark. */
export function withMark(text: string | undefined, body: string): string {
  return text?.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK + body : body;
}

/** Says which file a refusal is about. */
export function naming<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof Refusal) throw new Refusal(`${path}: ${error.message}; nothing was changed`);
    throw error;
  }
}
