import { type Connection, type FieldDef, Query } from 'pg';
import { toError } from '../../../errors.ts';
import { DatabaseError, type Row } from '../../database.ts';
import type { Statement } from './statement.ts';
import { type Parser, parserOf, toParameter } from './types.ts';

/**
 * Statements that leave together and are answered together: the server speaks once, and this process wakes up once. When
 * one of them fails the server does none of those behind it, and all of them count as failed.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 */
export class Packet extends Query {
  /** Whom the driver, which limits the time, wants to be told that it has ended. */
  callback: (error: Error | null) => void = () => undefined;
  readonly #questions: Question[] = [];
  #answered = 0;
  #rows: Row[] = [];

  constructor() {
    super('');
  }

  ask(statement: Statement): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      this.#questions.push({ statement, resolve, reject, rows: [], tag: '', plan: undefined, isParsedHere: false });
    });
  }

  /** Returns an error for the driver to hand back to `handleError`. */
  override submit = (connection: Connection): Error | undefined => {
    try {
      whileCorked(connection.stream, () => {
        for (const question of this.#questions) write(connection, question);
        connection.sync();
      });
      return undefined;
    } catch (thrown) {
      // The server would take what comes next for the rest of this packet.
      connection.stream.destroy();
      return toError(thrown);
    }
  };

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    const plan = this.#questions[this.#answered]?.plan;
    if (plan !== undefined)
      plan.columns = fields.map(({ name, dataTypeID }) => ({ name, parse: parserOf(dataTypeID) }));
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const columns = this.#questions[this.#answered]?.plan?.columns ?? [];
    const row: Record<string, unknown> = {};
    for (let index = 0; index < columns.length; index += 1) {
      const { name, parse } = columns[index] as Column;
      const text = fields[index] ?? null;
      row[name] = text === null ? null : parse(text);
    }
    this.#rows.push(row as Row);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const question = this.#questions[this.#answered];
    if (question?.plan === undefined) return;
    // It is the same for as long as the statement has its name: the server refuses one whose columns have changed.
    question.plan.columns ??= [];
    question.rows = this.#rows;
    question.tag = text;
    this.#rows = [];
    this.#answered += 1;
  }

  /** Not before: a statement outside of a transaction is committed after it was answered. */
  handleReadyForQuery(): void {
    this.callback(null);
    for (const { statement, tag, rows, resolve, reject } of this.#questions)
      if (statement.tag === undefined || statement.tag === tag) resolve(rows);
      else reject(notDone(statement.tag, tag));
  }

  handleError(error: Error, connection: Connection): void {
    for (const { plan, isParsedHere } of this.#questions.slice(this.#answered))
      if (plan !== undefined && isParsedHere) plan.state = 'doubtful';
    // One that vanished or no longer fits its tables is never alone: a pooler drops all, a migration changes several.
    if ('code' in error && STALE_PLAN.has(error.code))
      for (const plan of plans.get(connection)?.values() ?? []) plan.state = 'doubtful';
    this.callback(error);
    for (const { reject } of this.#questions) reject(error);
  }
}

/** One piece on the wire, also when the writing fails: a stream that stays corked is deaf for good. */
export function whileCorked(stream: Connection['stream'], write: () => void): void {
  stream.cork();
  try {
    write();
  } finally {
    stream.uncork();
  }
}

interface Question {
  readonly statement: Statement;
  readonly resolve: (rows: Row[]) => void;
  readonly reject: (error: Error) => void;
  rows: Row[];
  tag: string;
  plan: Plan | undefined;
  isParsedHere: boolean;
}

/** What a connection knows of a statement that has a name. */
interface Plan {
  /** Doubtful after a failure: the server may have parsed it or not. */
  state: 'unknown' | 'parsed' | 'doubtful';
  columns: Column[] | undefined;
}

interface Column {
  readonly name: string;
  readonly parse: Parser;
}

/** A COMMIT of a transaction that has failed is answered with ROLLBACK, and no error. */
function notDone(wanted: string, done: string): DatabaseError {
  return new DatabaseError('lost', `the server answered ${wanted} with ${done}, and nothing was changed; call again`);
}

/**
 * `cached plan must not change result type`, `prepared statement does not exist`, `prepared statement already exists`,
 * `bind message supplies 1 parameters, but prepared statement requires 2`.
 */
const STALE_PLAN: ReadonlySet<unknown> = new Set(['0A000', '26000', '42P05', '08P01']);

const plans = new WeakMap<Connection, Map<string, Plan>>();

function write(connection: Connection, question: Question): void {
  const { name, text, parameters } = question.statement;
  const plan = planOf(connection, name);
  question.plan = plan;
  if (plan.state !== 'parsed') {
    // To close what is not there is no error.
    if (plan.state === 'doubtful') connection.close({ type: 'S', name }, true);
    connection.parse({ name, text, types: [] }, true);
    plan.state = 'parsed';
    plan.columns = undefined;
    question.isParsedHere = true;
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
