import type { LaunchCommand } from '../clients.ts';
import { hookLine } from '../hooks/hook-command.ts';

/** The hooks that record commits and write trailers. */
export const GIT_HOOKS = [
  'prepare-commit-msg',
  'commit-msg',
  'post-commit',
  'post-merge',
  'post-applypatch',
  'post-rewrite',
] as const;
export type GitHook = (typeof GIT_HOOKS)[number];

/** Relative to the folder that all work trees of a repository share. It is never part of a commit. */
export const LAUNCHER_PATH = 'colibri/hook';

const BEGIN = '# >>> colibri: records commits; `colibri init --undo` removes these lines';
const END = '# <<< colibri';
const CREATED = '#!/bin/sh\n';
const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'ash', 'ksh', 'zsh']);
const SAVED_SUFFIX = '.before-colibri';

/** Starts the program with the Node of this machine, so that a hook in a commit names no path of it. */
export function launcherText(command: LaunchCommand): string {
  const { shell } = hookLine(command, ['--git']);
  return `#!/bin/sh\n# Written by colibri init --record. The hooks of git run it.\nexec ${shell} "$@"\n`;
}

/** A hook without any other content. */
export function createdText(hook: GitHook): string {
  return `${CREATED}${block(hook)}\n`;
}

/** Runs a hook in another language, which was moved aside, after the lines of Colibri. */
export function wrapperText(hook: GitHook): string {
  return `${CREATED}${block(hook)}\nexec "$0${SAVED_SUFFIX}" "$@"\n`;
}

/** The path of the hook that a wrapper runs. */
export function savedPath(path: string): string {
  return path + SAVED_SUFFIX;
}

/** Git starts a hook without a first line that names a program with sh. */
export function isShellScript(text: string): boolean {
  if (!text.startsWith('#!')) return true;
  const words = (text.slice('#!'.length).split('\n', 1)[0] ?? '').trim().split(/\s+/);
  const [program = '', ...rest] = words.map((word) => word.split('/').at(-1) ?? '');
  return SHELLS.has(program === 'env' ? (rest.find((word) => !word.startsWith('-')) ?? '') : program);
}

export function hasBlock(text: string): boolean {
  return text.includes(BEGIN);
}

/** At the beginning, because a script may end with `exit` or `exec`. */
export function addBlock(text: string, hook: GitHook): string {
  const lines = block(hook);
  if (!text.startsWith('#!')) return `${lines}\n${text}`;
  const end = text.indexOf('\n') + 1;
  return end === 0 ? `${text}\n${lines}` : `${text.slice(0, end)}${lines}\n${text.slice(end)}`;
}

/** The text without the lines, of any version; undefined if their end is gone. */
export function removeBlock(text: string): string | undefined {
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END, begin);
  if (begin === -1 || end === -1) return undefined;
  const after = end + END.length;
  // Without a line break at its end, the script consisted of its first line alone.
  return text[after] === '\n'
    ? text.slice(0, begin) + text.slice(after + 1)
    : text.slice(0, begin - 1) + text.slice(after);
}

/** Never fails, and leaves the arguments and the standard input to what comes after it. */
function block(hook: GitHook): string {
  return [
    BEGIN,
    // In the condition, because husky runs hooks with sh -e.
    `if colibri_hook="$(git rev-parse --git-common-dir 2>/dev/null)/${LAUNCHER_PATH}" &&`,
    `  [ -x "$colibri_hook" ]${CONDITIONS[hook]}; then`,
    ...CALLS[hook],
    'fi',
    END,
  ].join('\n');
}

/** Decides without starting a program, so that a rebase of many commits stays fast. */
const NO_TRAILERS = ` && ! grep -qi '^Colibri-Checkpoint:' "$1" && [ ! -d "\${1%/*}/rebase-merge" ]`;
const CONDITIONS: Readonly<Record<GitHook, string>> = {
  'prepare-commit-msg': `${NO_TRAILERS} && [ "\${2-}" != merge ] && [ "\${2-}" != squash ]`,
  'commit-msg': `${NO_TRAILERS} && [ ! -f "\${1%/*}/MERGE_HEAD" ] && [ ! -f "\${1%/*}/SQUASH_MSG" ]`,
  // A rebase reports its commits together when it ends.
  'post-commit': ` && [ -z "\${GIT_CHERRY_PICK_HELP-}" ]`,
  // Not for a fast-forward, which makes no commit; the message is not translated.
  'post-merge': ` && git reflog -1 --format=%gs 2>/dev/null | grep -q 'Merge made by\\|In-index merge'`,
  'post-applypatch': ` && [ ! -f "$(git rev-parse --git-path rebase-apply/rebasing)" ]`,
  'post-rewrite': '',
};

const call = (hook: GitHook) => `  "$colibri_hook" ${hook} "$@" </dev/null || :`;
const CALLS: Readonly<Record<GitHook, readonly string[]>> = {
  'prepare-commit-msg': [call('prepare-commit-msg')],
  'commit-msg': [call('commit-msg')],
  'post-commit': [call('post-commit')],
  'post-merge': [call('post-merge')],
  'post-applypatch': [call('post-applypatch')],
  'post-rewrite': [
    '  colibri_input=$(cat)',
    `  printf '%s\\n' "$colibri_input" | "$colibri_hook" post-rewrite "$@" || :`,
    '  exec <<COLIBRI_INPUT',
    '$colibri_input',
    'COLIBRI_INPUT',
  ],
};
