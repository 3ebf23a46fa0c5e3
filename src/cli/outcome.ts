import { ColibriError, toError } from '../errors.ts';

export const EXIT = { done: 0, refused: 1, cannotTell: 2, badInput: 3 } as const;

export interface Outcome {
  readonly exitCode: number;
  /** One word or two for scripts. */
  readonly verdict: string;
  /** What a person reads. */
  readonly text: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Ends a command with a sentence for its user; everything else that is thrown means that it cannot tell. */
export class Refusal extends Error {
  constructor(
    readonly exitCode: number,
    readonly verdict: string,
    message: string,
    readonly facts: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = 'Refusal';
  }
}

/** Runs a command and prints its outcome: one JSON object on standard output, or text, with failures on stderr. */
export async function reportOutcome(name: string, json: boolean, work: () => Promise<Outcome>): Promise<void> {
  try {
    const { exitCode, verdict, text, facts } = await work();
    console.log(json ? JSON.stringify({ verdict, ...facts }) : text);
    process.exitCode = exitCode;
  } catch (thrown) {
    const { exitCode, verdict, message, facts } = toRefusal(thrown);
    if (json) console.log(JSON.stringify({ verdict, message, ...facts }));
    else console.error(`colibri ${name}: ${message}`);
    process.exitCode = exitCode;
  }
}

function toRefusal(thrown: unknown): Refusal {
  if (thrown instanceof Refusal) return thrown;
  const { message } = toError(thrown);
  return thrown instanceof ColibriError
    ? new Refusal(EXIT.badInput, 'bad input', message)
    : new Refusal(EXIT.cannotTell, 'cannot tell', message);
}
