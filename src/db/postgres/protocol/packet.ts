import { type Connection, type FieldDef, Query } from 'pg';
import { toError } from '../../../errors.ts';
import { DatabaseError, type Row } from '../../database.ts';
import type { Statement } from './statement.ts';
import { type Parser, parserOf, toParameter } from './types.ts';

/**
 * Statements that are sent in one write and answered in one read. If one fails, the server skips the ones after it, and
 * all of them are rejected.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 */
export class Packet extends Query {
  /** The driver sets it, and ends its query timeout when it is called. */
  callback: (error: Error | null) => void = () => undefined;
  readonly #pending: PendingStatement[] = [];
  #answered = 0;
  #rows: Row[] = [];

  constructor() {
    super('');
  }

  add(statement: Statement): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ statement, resolve, reject, rows: [], tag: '', plan: undefined, isParsedHere: false });
    });
  }

  /** The driver passes a returned error to `handleError`. */
  override submit = (connection: Connection): Error | undefined => {
    try {
      whileCorked(connection.stream, () => {
        for (const pending of this.#pending) write(connection, pending);
        connection.sync();
      });
      return undefined;
    } catch (thrown) {
      // The server would read the next packet as the rest of this one.
      connection.stream.destroy();
      return toError(thrown);
    }
  };

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    const plan = this.#pending[this.#answered]?.plan;
    if (plan !== undefined)
      plan.columns = fields.map(({ name, dataTypeID }) => ({ name, parse: parserOf(dataTypeID) }));
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const columns = this.#pending[this.#answered]?.plan?.columns ?? [];
    const row: Record<string, unknown> = {};
    for (let index = 0; index < columns.length; index += 1) {
      const { name, parse } = columns[index] as Column;
      const text = fields[index] ?? null;
      row[name] = text === null ? null : parse(text);
    }
    this.#rows.push(row as Row);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const pending = this.#pending[this.#answered];
    if (pending?.plan === undefined) return;
    // The columns of a prepared statement never change: the server refuses to run it when they would.
    pending.plan.columns ??= [];
    pending.rows = this.#rows;
    pending.tag = text;
    this.#rows = [];
    this.#answered += 1;
  }

  /** Resolves only here: a statement without a transaction is committed after its answer. */
  handleReadyForQuery(): void {
    this.callback(null);
    for (const { statement, tag, rows, resolve, reject } of this.#pending)
      if (statement.tag === undefined || statement.tag === tag) resolve(rows);
      else reject(unexpectedTag(statement.tag, tag));
  }

  handleError(error: Error, connection: Connection): void {
    for (const { plan, isParsedHere } of this.#pending.slice(this.#answered))
      if (plan !== undefined && isParsedHere) plan.state = 'doubtful';
    // One stale statement means others are stale too: a pooler drops all of them, a migration changes several tables.
    if ('code' in error && STALE_PLAN.has(error.code))
      for (const plan of plans.get(connection)?.values() ?? []) plan.state = 'doubtful';
    this.callback(error);
    for (const { reject } of this.#pending) reject(error);
  }
}

/** Sends everything in one write. Uncorks even after a failure: a corked stream would never send again. */
export function whileCorked(stream: Connection['stream'], write: () => void): void {
  stream.cork();
  try {
    write();
  } finally {
    stream.uncork();
  }
}

interface PendingStatement {
  readonly statement: Statement;
  readonly resolve: (rows: Row[]) => void;
  readonly reject: (error: Error) => void;
  rows: Row[];
  tag: string;
  plan: Plan | undefined;
  isParsedHere: boolean;
}

/** The state of a named statement on one connection. */
interface Plan {
  /** `doubtful` after a failure: the server may have parsed it or not. */
  state: 'unknown' | 'parsed' | 'doubtful';
  columns: Column[] | undefined;
}

interface Column {
  readonly name: string;
  readonly parse: Parser;
}

/** The server answers a COMMIT of a failed transaction with the tag ROLLBACK and no error. */
function unexpectedTag(expected: string, received: string): DatabaseError {
  const problem = `the server answered ${expected} with ${received}, and nothing was changed`;
  return new DatabaseError('lost', problem, { advice: 'call again' });
}

/**
 * `cached plan must not change result type`, `prepared statement does not exist`, `prepared statement already exists`,
 * `bind message supplies 1 parameters, but prepared statement requires 2`.
 */
const STALE_PLAN: ReadonlySet<unknown> = new Set(['0A000', '26000', '42P05', '08P01']);

const plans = new WeakMap<Connection, Map<string, Plan>>();

function write(connection: Connection, pending: PendingStatement): void {
  const { name, text, parameters } = pending.statement;
  const plan = planOf(connection, name);
  pending.plan = plan;
  if (plan.state !== 'parsed') {
    // Closing a statement that does not exist is not an error.
    if (plan.state === 'doubtful') connection.close({ type: 'S', name }, true);
    connection.parse({ name, text, types: [] }, true);
    plan.state = 'parsed';
    plan.columns = undefined;
    pending.isParsedHere = true;
  }
  connection.bind({ statement: name, values: parameters as string[], valueMapper: toParameter }, true);
  if (plan.columns === undefined) connection.describe({ type: 'P' }, true);
  connection.execute(null, true);
}

function planOf(connection: Connection, name: string): Plan {
  const known = plans.get(connection) ?? new Map<string, Plan>();
  plans.set(connection, known);
  const plan = known.get(name) ?? { state: 'unknown', columns: undefined };
  if (name !== '') known.set(name, plan);
  return plan;
}
