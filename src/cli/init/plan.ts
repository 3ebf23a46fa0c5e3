import { type Client, configPath, SERVER_NAME } from './clients.ts';
import { type FileChange, readText } from './disk.ts';
import type { ConfigFormat } from './formats/config-format.ts';
import { jsoncFormat } from './formats/jsonc-file.ts';
import { tomlFormat } from './formats/toml-file.ts';
import { CORRECT_FILE, InitError } from './init-error.ts';

/** The folder that init works in: the project, or the home folder with --global. */
export interface Site {
  readonly root: string;
  readonly isGlobal: boolean;
}

export interface Plan {
  /** In the order of writing. */
  readonly changes: readonly FileChange[];
  /** What is left unchanged, and why. */
  readonly notes: readonly string[];
  /** The clients whose configuration starts Colibri after the change. */
  readonly connected: readonly Client[];
  /** The clients that report to the recorder after the change. */
  readonly recording: readonly RecordingClient[];
  /** Folders to remove if they are empty, innermost first. */
  readonly emptied: readonly string[];
}

/** A client that reports to the recorder. */
export interface RecordingClient {
  readonly id: string;
  readonly name: string;
  /** What its user must still do. */
  readonly nextStep: string;
}

/** A configuration file of a client, with its current content. */
export interface ConfigFile {
  readonly path: string;
  readonly text: string | undefined;
  readonly format: ConfigFormat;
  /** The path of keys to the entry of Colibri. */
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
  return withPath(path, () => {
    const keys = [...client.serversAt((place) => format.find(body, place)), SERVER_NAME];
    return { path, text, format, keys, current: format.find(body, keys) };
  });
}

/** Removes the byte order mark of some editors, which parsers reject. */
export function bodyOf(text: string | undefined): string {
  return text?.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : (text ?? '');
}

/** Restores the byte order mark of the original text. */
export function withByteOrderMark(text: string | undefined, body: string): string {
  return text?.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK + body : body;
}

/** Adds the path to the errors of the work, and what to do about a file that cannot be edited. */
export function withPath<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof InitError)
      throw new InitError(`${path}: ${error.problem}`, { advice: error.advice ?? CORRECT_FILE });
    throw error;
  }
}
