import { isDeepStrictEqual } from 'node:util';
import type { LaunchCommand } from '../clients.ts';
import { localCommand, publishedCommand } from '../launch-command.ts';

/** One command line, as each kind of shell needs it. */
export interface HookLine {
  /** For the shell that clients start on this platform. */
  readonly shell: string;
  readonly powershell: string;
}

/** The command line that passes one event to the recorder. */
export function hookLine(command: LaunchCommand, args: readonly string[], platform = process.platform): HookLine {
  const words = [...command, 'hook', ...args];
  const quoted = words.map(quoteForWindows).join(' ');
  return {
    shell: platform === 'win32' ? quoted : words.map(quoteForPosix).join(' '),
    // PowerShell prints a quoted program unless it is called.
    powershell: quoted.startsWith('"') ? `& ${quoted}` : quoted,
  };
}

/** Whether a hook in the form of any client starts Colibri's recorder: also, or nothing else. */
export function isColibriHook(item: unknown, extent: 'also' | 'only' = 'also'): boolean {
  const lines = commandsOf(item);
  const starts = (line: string) => STARTS_RECORDER.test(line);
  return extent === 'only' ? lines.every(starts) : lines.some(starts);
}

/** The commands with which this program writes hooks; of the published one, the version that the hook names. */
export function possibleCommands(item: unknown): LaunchCommand[] {
  const [, version] = commandsOf(item).flatMap((line) => [...(PUBLISHED.exec(line) ?? [])]);
  return [localCommand(), ...(version === undefined ? [] : [publishedCommand(version)])];
}

/** Whether the hook equals one that this program writes, of any version. */
export function isOwnHook(item: unknown, write: (command: LaunchCommand) => unknown): boolean {
  return possibleCommands(item).some((command) => isDeepStrictEqual(item, write(command)));
}

/** The command lines of a hook that run on this platform, in the form of any client. */
export function commandsOf(item: unknown): string[] {
  if (typeof item !== 'object' || item === null) return [];
  const { command, bash, powershell, hooks } = item as Record<string, unknown>;
  const own = [command, process.platform === 'win32' ? (powershell ?? bash) : bash];
  return [
    ...own.filter((line) => typeof line === 'string'),
    ...(Array.isArray(hooks) ? hooks.flatMap((inner) => commandsOf(inner)) : []),
  ];
}

const STARTS_RECORDER = /\bcolibri(?:-mcp(?:@[\w.+-]+)?|\.c?js)?["']?\s+hook\b/;
const PUBLISHED = /^npx -y colibri-mcp@([\w.+-]+) hook\b/;

function quoteForPosix(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Windows accepts slashes in paths, and bash, which some clients start there, does not change them. */
function quoteForWindows(word: string): string {
  const path = word.replaceAll('\\', '/');
  return /^[\w./:@%+=,-]+$/.test(path) ? path : `"${path}"`;
}
