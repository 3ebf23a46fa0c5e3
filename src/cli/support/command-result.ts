import { type SchemaDifference, SchemaError } from '../../db/schema/difference.ts';
import { ColibriError, toError } from '../../errors.ts';
import { printError } from '../../print-error.ts';
import { print, printJson } from './print.ts';

export const EXIT = { done: 0, refused: 1, cannotTell: 2, badInput: 3 } as const;

export interface Outcome {
  readonly exitCode: number;
  /** One word or two for scripts. */
  readonly verdict: string;
  /** What a person reads. */
  readonly lines: readonly string[];
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Ends a command with a sentence for its user; everything else that is thrown means that it cannot tell. */
export class Refusal extends Error {
  constructor(
    readonly exitCode: number,
    readonly verdict: string,
    message: string,
    readonly facts: Readonly<Record<string, unknown>> = {},
    /** Lines below the message. */
    readonly more: readonly string[] = [],
  ) {
    super(message);
    this.name = 'Refusal';
  }
}

/** Runs a command and prints its outcome: one JSON object on standard output, or text, with failures on stderr. */
export async function reportOutcome(name: string, json: boolean, work: () => Promise<Outcome>): Promise<void> {
  try {
    const { exitCode, verdict, lines, facts } = await work();
    if (json) printJson({ verdict, ...facts });
    else print(lines);
    process.exitCode = exitCode;
  } catch (thrown) {
    const { exitCode, verdict, message, facts, more } = toRefusal(thrown);
    if (json) printJson({ verdict, message: [message, ...more].join('\n'), ...facts });
    else printError([`colibri ${name}: ${message}`, ...more]);
    process.exitCode = exitCode;
  }
}

function toRefusal(thrown: unknown): Refusal {
  if (thrown instanceof Refusal) return thrown;
  const { message } = toError(thrown);
  if (thrown instanceof SchemaError)
    return new Refusal(EXIT.refused, 'tampered', message, { problems: thrown.differences.map(toProblem) });
  return thrown instanceof ColibriError
    ? new Refusal(EXIT.badInput, 'bad input', message)
    : new Refusal(EXIT.cannotTell, 'cannot tell', message);
}

function toProblem({ place, problem }: SchemaDifference) {
  return { place, problem };
}
