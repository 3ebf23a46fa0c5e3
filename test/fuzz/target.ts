/** A parser, valid inputs of it, and what it promises about any other. */
export interface FuzzTarget {
  readonly name: string;
  readonly samples: readonly string[];
  /** Throws if a promise is broken. Returns whether the parser accepted the input. */
  readonly check: (input: string, sample: string) => boolean | Promise<boolean>;
}

/** The result, or undefined if it throws the documented kind of error. Any other error passes. */
export function unlessThrows<Result>(
  kind: abstract new (...args: never[]) => Error,
  work: () => Result,
): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof kind) return undefined;
    throw error;
  }
}

export function promise(holds: boolean, says: string): void {
  if (!holds) throw new Error(`broken promise: ${says}`);
}
