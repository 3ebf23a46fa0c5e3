import { DatabaseError } from '../database.ts';

/** An object of the schema that differs from what the migrations create. */
export interface SchemaDifference {
  readonly place: string;
  readonly problem: string;
}

export interface SchemaReport {
  /** The version that the database claims to have; negative for an unfinished copy, 0 for an empty database. */
  readonly version: number;
  /** False: the tables of a ledger are missing. */
  readonly isLedger: boolean;
  /** False: the database carries the mark of another program. */
  readonly isMarked: boolean;
  /** False: reading the tables could run code that is stored in the database. */
  readonly isSafeToRead: boolean;
  readonly differences: readonly SchemaDifference[];
}

/** The prefix of every problem with the schema. */
export const DIFFERS = 'differs from the schema: ';

export function difference(place: string, detail: string): SchemaDifference {
  return { place, problem: DIFFERS + detail };
}

const MAX_NAMED = 3;

/** The schema was changed. Such a ledger is not used: a schema can run code, hide rows and undo changes. */
export class SchemaError extends DatabaseError {
  constructor(
    location: string,
    readonly differences: readonly SchemaDifference[],
  ) {
    const named = differences.slice(0, MAX_NAMED).map(({ place, problem }) => `${place} ${problem}`);
    const more = differences.length > MAX_NAMED ? `, and ${differences.length - MAX_NAMED} more` : '';
    super('corrupt', `${location}: another program changed this ledger: ${named.join(', ')}${more}`, {
      advice: 'run colibri verify to see every difference, then restore a backup',
    });
    this.name = 'SchemaError';
  }
}
