import { type SchemaDifference, SchemaError } from '../../db/schema/difference.ts';
import { type AdviceOptions, AdvisedError, ColibriError } from '../../errors.ts';
import { explainFullDisk } from '../../files/full-disk.ts';
import { printError } from '../../print-error.ts';
import { printJson, printProse } from './print.ts';

const EXIT_CODES = {
  done: 0,
  whole: 0,
  accepted: 0,
  named: 0,
  own: 0,
  restored: 0,
  copied: 0,
  refused: 1,
  'not accepted': 1,
  tampered: 1,
  differs: 1,
  'cannot tell': 2,
  'bad input': 3,
} as const;

/** The result of a command in one or two words, for scripts. It decides the exit code. */
export type Verdict = keyof typeof EXIT_CODES;

export interface CommandResult {
  readonly verdict: Verdict;
  /** The output for people. */
  readonly lines: readonly string[];
  readonly facts: Readonly<Record<string, unknown>>;
}

interface FailureDetails extends AdviceOptions {
  readonly facts?: Readonly<Record<string, unknown>>;
  /** Lines below the message. */
  readonly more?: readonly string[];
}

/** Ends a command with this verdict; any other error that is thrown means "cannot tell". */
export class CommandError extends AdvisedError {
  readonly facts: Readonly<Record<string, unknown>>;
  readonly more: readonly string[];

  constructor(
    readonly verdict: Verdict,
    problem: string,
    { facts = {}, more = [], ...options }: FailureDetails = {},
  ) {
    super(problem, options);
    this.name = 'CommandError';
    this.facts = facts;
    this.more = more;
  }
}

/** Prints the result: one JSON object on stdout, or text on stdout and errors on stderr. Returns the exit code. */
export async function reportResult(name: string, json: boolean, work: () => Promise<CommandResult>): Promise<number> {
  try {
    const { verdict, lines, facts } = await work();
    if (json) printJson({ verdict, ...facts });
    else printProse(lines);
    return EXIT_CODES[verdict];
  } catch (thrown) {
    const { verdict, message, facts, more } = toCommandError(thrown);
    if (json) printJson({ verdict, message: [message, ...more].join('\n'), ...facts });
    else printError([`colibri ${name}: ${message}`, ...more]);
    return EXIT_CODES[verdict];
  }
}

function toCommandError(thrown: unknown): CommandError {
  if (thrown instanceof CommandError) return thrown;
  const { message } = explainFullDisk(thrown);
  if (thrown instanceof SchemaError)
    return new CommandError('tampered', message, { facts: { problems: thrown.differences.map(toProblem) } });
  return new CommandError(verdictOf(thrown), message);
}

/** A log that was rolled back is a finding about the ledger, not about the input. */
function verdictOf(thrown: unknown): Verdict {
  if (!(thrown instanceof ColibriError)) return 'cannot tell';
  return thrown.code === 'ERR_LOG_ROLLBACK' ? 'differs' : 'bad input';
}

function toProblem({ place, problem }: SchemaDifference) {
  return { place, problem };
}
