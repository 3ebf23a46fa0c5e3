import { DatabaseError } from '../database.ts';

/** An object of the schema that is not as the migrations make it. */
export interface SchemaDifference {
  readonly place: string;
  readonly problem: string;
}

export interface SchemaReport {
  /** The version that the database claims to have; negative for an unfinished copy, 0 for an empty database. */
  readonly version: number;
  /** False: neither the mark nor the tables are those of a ledger. */
  readonly isLedger: boolean;
  /** False: another program has marked the database as its own. */
  readonly isMarked: boolean;
  /** False: reading the tables would run code that came with the database. */
  readonly isSafeToRead: boolean;
  readonly differences: readonly SchemaDifference[];
}

/** All problems with the schema begin with this. */
export const DIFFERS = 'differs from the schema: ';

export function difference(place: string, detail: string): SchemaDifference {
  return { place, problem: DIFFERS + detail };
}

const MAX_NAMED = 3;

/** Somebody changed the schema. The ledger is not used: a schema can act, hide rows and undo changes. */
export class SchemaError extends DatabaseError {
  constructor(
    location: string,
    readonly differences: readonly SchemaDifference[],
  ) {
    const named = differences.slice(0, MAX_NAMED).map(({ place, problem }) => `${place} ${problem}`);
    const more = differences.length > MAX_NAMED ? `, and ${differences.length - MAX_NAMED} more` : '';
    super(
      'corrupt',
      `${location}: another program changed this ledger: ${named.join(', ')}${more}; run colibri verify to see every difference, then restore a backup`,
    );
    this.name = 'SchemaError';
  }
}
