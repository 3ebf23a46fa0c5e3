import { readTokens, type Token } from './shell-words.ts';

/** What the exit code of a command line says about each command in it. Pure. */

/** One command of a command line, without the assignments and wrappers before it. */
export interface Step {
  /** Equal for equal words, however they are quoted. */
  readonly key: string;
  /** Whether `&&` joins it to the step before it. */
  readonly isJoined: boolean;
  /** False if a step before it, or a condition, may have kept it from running. */
  readonly isCertain: boolean;
  /** Whether exit code 0 of the line means that this step exited 0. */
  readonly isTelling: boolean;
  /** Whether the line ends with it, so that its exit code is that of the line. */
  readonly isLast: boolean;
}

/** A line that cannot be split is one step, equal only to the same text. */
export function parseCommandLine(text: string): readonly Step[] {
  return parse(text.trim(), 0);
}

/** The exit of a call, as its client reported it. */
export interface CallExit {
  readonly exitCode: number | null;
  readonly outcome: 'ok' | 'failed' | 'unknown';
}

export interface StepExit extends CallExit {
  /** False if the steps may not have run at all. */
  readonly hasRun: boolean;
}

/** What the exit of a call says about some of its steps, which follow one another. */
export function exitOfSteps(steps: readonly Step[], { exitCode, outcome }: CallExit): StepExit {
  const [first, last] = [steps[0], steps.at(-1)];
  const hasRun = first?.isCertain ?? false;
  const isTelling = steps.length > 0 && steps.every((step) => step.isTelling);
  if (isTelling && exitCode === 0) return { hasRun: true, exitCode, outcome: 'ok' };
  const hasFailed = outcome === 'failed' || (exitCode ?? 0) !== 0;
  if (isTelling && hasFailed && last?.isLast === true && hasRun) return { hasRun, exitCode, outcome: 'failed' };
  return { hasRun, exitCode: null, outcome: 'unknown' };
}

const MAX_STEPS = 64;
const MAX_NESTING = 3;

function parse(text: string, depth: number): readonly Step[] {
  const tokens = readTokens(text);
  const lists = tokens === undefined ? undefined : splitLists(tokens);
  if (lists === undefined) return [wholeLine(text)];
  const inner = innerScript(lists);
  if (inner !== undefined && depth < MAX_NESTING) return parse(inner.trim(), depth + 1);
  const steps = toSteps(lists);
  return steps === undefined || steps.length === 0 || steps.length > MAX_STEPS ? [wholeLine(text)] : steps;
}

function wholeLine(text: string): Step {
  return { key: text, isJoined: false, isCertain: true, isTelling: true, isLast: true };
}

/** The commands that pipes join, and what joins them to the pipeline before. */
interface Pipeline {
  readonly joinedBy: '&&' | '||' | undefined;
  readonly commands: (readonly string[])[];
}

/** What runs up to a semicolon, a line break or an ampersand. */
interface List {
  readonly pipelines: Pipeline[];
  readonly isInBackground: boolean;
}

/** Undefined for a line that a shell would refuse. */
function splitLists(tokens: readonly Token[]): List[] | undefined {
  const lists: List[] = [];
  let pipelines: Pipeline[] = [];
  let pipeline: Pipeline = { joinedBy: undefined, commands: [] };
  let words: string[] = [];
  let isEmpty = true;
  for (const token of [...tokens, { operator: ';' } as const]) {
    if (!('operator' in token)) {
      if ('word' in token) words.push(token.word);
      isEmpty = false;
      continue;
    }
    const { operator } = token;
    // A line may be broken after an operator, and there may be empty lines.
    if (isEmpty && operator === ';') continue;
    if (isEmpty) return undefined;
    pipeline.commands.push(words);
    words = [];
    isEmpty = true;
    if (operator === '|') continue;
    pipelines.push(pipeline);
    if (operator === '&&' || operator === '||') {
      pipeline = { joinedBy: operator, commands: [] };
      continue;
    }
    pipeline = { joinedBy: undefined, commands: [] };
    lists.push({ pipelines, isInBackground: operator === '&' });
    pipelines = [];
  }
  return pipeline.commands.length > 0 || pipeline.joinedBy !== undefined ? undefined : lists;
}

const SHELL = /^(?:\/(?:usr\/)?bin\/)?(?:ba|da|z|k)?sh$/;

/**
 * The script of `bash -c '…'`, by which some clients run every command. Other options (-n, -e) change what it means.
 */
function innerScript(lists: readonly List[]): string | undefined {
  const [list] = lists;
  if (lists.length !== 1 || list === undefined || list.isInBackground || list.pipelines.length !== 1) return undefined;
  const [command = [], ...others] = list.pipelines[0]?.commands ?? [];
  const [shell, option, script] = command;
  const isShell = others.length === 0 && command.length === 3 && SHELL.test(shell ?? '');
  return isShell && /^-[lx]*c$/.test(option ?? '') ? script : undefined;
}

/** After these, a line does not run as it reads: keywords, and builtins that end, replace or redefine what follows. */
const UNREADABLE = new Set(
  [
    'if then else elif fi for while until do done case esac select function coproc repeat foreach end',
    'exit exec return break continue logout suspend kill trap eval source . command builtin noglob nocorrect',
    'alias unalias hash enable disable shopt setopt unsetopt emulate autoload zmodload',
    'declare typeset local readonly unset read mapfile readarray getopts let',
  ].flatMap((words) => words.split(' ')),
);
/** A name that no shell expands: without variables, braces and patterns. An option is not the name of a command. */
const COMMAND_NAME = /^(?:\[|~?[\w./:+,@%][\w./:+,@%-]*)$/;
/** An expansion that ends the shell if the variable is not set. */
const MAY_EXIT = /\$\{\w+:?\?/;
const SETUP = new Set(['cd', 'pushd', 'export', 'set']);

function toSteps(lists: readonly List[]): Step[] | undefined {
  const steps: Step[] = [];
  let stopsAtErrors = false;
  let joinsPipeExits = false;
  for (const [place, list] of lists.entries()) {
    const hasAlternative = list.pipelines.some(({ joinedBy }) => joinedBy === '||');
    const isLastList = place === lists.length - 1 && !list.isInBackground;
    // The shell may end before a command in the background does anything.
    let isCertain = !(stopsAtErrors && place > 0) && !list.isInBackground;
    for (const [position, { joinedBy, commands }] of list.pipelines.entries()) {
      const isLastPipeline = isLastList && position === list.pipelines.length - 1;
      const before = list.pipelines[position - 1];
      const isJoined = joinedBy === '&&' && commands.length === 1 && before?.commands.length === 1;
      if (joinedBy === '||') isCertain = false;
      let isSetup = commands.length === 1;
      for (const [part, command] of commands.entries()) {
        const words = withoutWrappers(command);
        const [first] = words;
        const set = first === 'export' ? command : command.slice(0, command.length - words.length);
        if (set.some((word) => DECIDING.test(word)) || command.some((word) => MAY_EXIT.test(word))) return undefined;
        // A redirection alone can fail, and sets the exit code.
        if (command.length === 0) isSetup = false;
        if (first === undefined) continue;
        const options = first === 'set' ? readSetOptions(words.slice(1)) : NO_OPTIONS;
        if (!isReadable(words) || options === undefined) return undefined;
        isSetup = isSetup && SETUP.has(first);
        if (options.has('errexit') || options.has('nounset')) stopsAtErrors = true;
        if (options.has('pipefail')) joinsPipeExits = true;
        const isLastOfPipe = part === commands.length - 1;
        steps.push({
          key: JSON.stringify(words),
          isJoined: isJoined && steps.length > 0,
          isCertain,
          isTelling: isLastList && !hasAlternative && isLastOfPipe,
          isLast: isLastPipeline && isLastOfPipe && !(joinsPipeExits && commands.length > 1),
        });
      }
      if (!isSetup) isCertain = false;
    }
  }
  return steps;
}

function isReadable([name = '', option]: readonly string[]): boolean {
  if (name === 'command') return option === '-v' || option === '-V';
  // It sets a variable instead of printing.
  if (name === 'printf' && option?.startsWith('-v') === true) return false;
  return COMMAND_NAME.test(name) && !UNREADABLE.has(name);
}

const NO_OPTIONS: ReadonlySet<string> = new Set();
const SET_LETTERS: Readonly<Record<string, string>> = { e: 'errexit', u: 'nounset', x: 'xtrace' };
const SET_NAMES = new Set(['errexit', 'nounset', 'xtrace', 'pipefail']);

/** The options that `set` switches on. Undefined if one is not known: `set -n` runs nothing after it. */
function readSetOptions(words: readonly string[]): ReadonlySet<string> | undefined {
  const names: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const [, letters = '', takesName = ''] = /^-([eux]*)(o?)$/.exec(words[at] ?? '') ?? [];
    for (const letter of letters) names.push(SET_LETTERS[letter] ?? '');
    if (takesName !== '') {
      at += 1;
      names.push(words[at] ?? '');
    } else if (letters === '') return undefined;
  }
  return names.every((name) => SET_NAMES.has(name)) ? new Set(names) : undefined;
}

/** Variables that decide which program a name runs, or what runs in its place. */
const DECIDING = /^(?:PATH|NODE_OPTIONS|npm_config_\w*|(?:LD|DYLD)_\w*|(?:BASH_)?ENV|SHELLOPTS|BASHOPTS|IFS)\+?=/i;
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;

/** `CI=1 env A=b timeout 60 npm test` runs npm test. */
function withoutWrappers(command: readonly string[]): readonly string[] {
  let at = skipAssignments(command, 0);
  for (;;) {
    const wrapper = command[at];
    if (wrapper === 'time') at += 1;
    else if (wrapper === 'timeout' && /^\d+(?:\.\d+)?[smhd]?$/.test(command[at + 1] ?? '')) at += 2;
    else if (wrapper === 'env' && ASSIGNMENT.test(command[at + 1] ?? '')) at = skipAssignments(command, at + 1);
    else break;
  }
  return command.slice(at);
}

function skipAssignments(command: readonly string[], from: number): number {
  let at = from;
  while (ASSIGNMENT.test(command[at] ?? '')) at += 1;
  return at;
}
