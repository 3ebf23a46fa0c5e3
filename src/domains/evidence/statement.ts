/** What one item of `tests_run` states: a command, and perhaps how it ended. Pure. */

/** An exit code, or only whether it was 0. */
export type StatedExit = number | 'zero' | 'nonzero';

export interface Statement {
  readonly command: string;
  /** Undefined if the words say nothing about it: to name a command is not to say that it succeeded. */
  readonly exit: StatedExit | undefined;
}

/** The ways to read an item, the most literal one first: `npm test (exit 1)`, `npm test: 42 passed`, `npm test failed`. */
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

const CODE = /\bexit(?:ed|s)?(?:\s+(?:with|code|status))*\s*[:=]?\s*(\d{1,10})\b/i;
const NO_FAILURE = /\b(?:0|no|zero|without)\s+(?:\w+\s+)?(?:fail\w*|errors?)/gi;
const NEGATION = /\b(?:not|never|un\w+|cannot|can't|didn't|doesn't|don't|nothing|neither)\b/i;
const FAILURE = /\bfail(?:s|ed|ing|ures?)?\b|[✗✘❌]/i;
const SUCCESS = /\b(?:pass(?:es|ed|ing)?|ok|succeed(?:s|ed)|success(?:ful|fully)?)\b|[✓✔✅]/i;

function readExit(remark: string): StatedExit | undefined {
  const code = CODE.exec(remark)?.[1];
  if (code !== undefined) return Number(code);
  // What is denied is not guessed.
  if (NEGATION.test(remark)) return undefined;
  const counted = remark.replaceAll(NO_FAILURE, ' ');
  if (FAILURE.test(counted)) return 'nonzero';
  return SUCCESS.test(remark) || counted !== remark ? 'zero' : undefined;
}
