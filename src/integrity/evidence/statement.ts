/** What one item of `tests_run` states: a command, and perhaps how it ended. Pure. */

/** An exit code, or only whether it was 0. `unclear`: words that may state an exit, and that are not understood. */
export type StatedExit = number | 'zero' | 'nonzero' | 'unclear';

export interface Statement {
  readonly command: string;
  /** Undefined if the words say nothing about it: to name a command is not to say that it succeeded. */
  readonly exit: StatedExit | undefined;
}

/**
 * The ways to read an item, the most literal one first: `npm test (exit 1)`, `npm test: 42 passed`, `npm test failed`.
 */
export function readStatements(item: string): readonly Statement[] {
  const text = unquote(item.trim());
  const readings = new Map<string, Statement>([[text, { command: text, exit: undefined }]]);
  for (const pattern of REMARKS) {
    const [, command = '', remark = ''] = pattern.exec(text) ?? [];
    const bare = unquote(command.trim());
    if (bare !== '' && !readings.has(bare)) readings.set(bare, { command: bare, exit: readExit(remark) });
  }
  return [...readings.values()];
}

/** A remark in brackets, after a separator, or of one of the words that say how a command ended. */
const REMARKS = [
  /^(.*\S)\s*[([]([^()[\]]*)[)\]]$/s,
  /^(.*?\S)\s*(?:->|=>|→|⇒|—|–|:(?=\s)|\s-(?=\s)|,(?=\s))\s*(.*)$/s,
  /^(.*\S)\s+((?:exit(?:ed|s)?\b.{0,24})|pass(?:ed|es)?|ok|succeeded|fail(?:ed|s)?|[✓✔✅✗✘❌])$/is,
];

function unquote(text: string): string {
  const [, inner] = /^(?:`([^`]*)`|\$ (.*))$/s.exec(text)?.filter((part) => part !== undefined) ?? [];
  return inner?.trim() ?? text;
}

const CODE =
  /(?:\b(?:exit(?:ed|s)?|return(?:s|ed)?\s+code)(?:\s+(?:with|code|status))*|^\s*rc)\s*[:=]?\s*(\d{1,10})\b/i;
const NO_FAILURE = /\b(?:0|no|zero|none|without)\s+(?:\w+\s+)?(?:fail\w*|errors?|problems?)\b/gi;
/** Words that deny, restrict or postpone what stands beside them. */
const DOUBTS = [
  /\b(?:no|not|never|none|nothing|neither|nor|cannot|without|hardly|almost|partial(?:ly)?|some|most(?:ly)?|half|maybe)\b/i,
  /\b(?:if|should|would|will|might|could|probably|pending|todo|errors?|errored|broken|red|crash(?:es|ed)?)\b/i,
  /\bun(?:able|clear|done|finished|known|passed|stable|successful\w*|sure|tested|verified)\b|(?<=\w)n['’]t\b/i,
];
const COUNTED_FAILURE = /\b[1-9]\d*\s+(?:\w+\s+)?fail/i;
const FAILURE = /\bfail(?:s|ed|ing|ures?)?\b|[✗✘❌]/i;
const SUCCESS =
  /\b(?:pass(?:es|ed|ing)?|ok(?:ay)?|green|good|fine|clean|works?|worked|succeed(?:s|ed)|success(?:ful|fully)?)\b|[✓✔✅]/i;

function readExit(remark: string): StatedExit {
  const code = CODE.exec(remark)?.[1];
  if (code !== undefined) return Number(code);
  const counted = remark.replaceAll(NO_FAILURE, ' ');
  // What is denied is not guessed.
  if (DOUBTS.some((pattern) => pattern.test(counted))) return 'unclear';
  const isSuccess = SUCCESS.test(counted) || counted !== remark;
  // "41 passed, 1 failed", but not "the failing tests pass now".
  if (FAILURE.test(counted)) return !isSuccess || COUNTED_FAILURE.test(counted) ? 'nonzero' : 'unclear';
  return isSuccess ? 'zero' : 'unclear';
}
