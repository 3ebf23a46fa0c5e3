import type { SqlValue } from '../../database.ts';
import { MAX_PARAMETERS, type Statement, toStatement } from './statement.ts';

/**
 * Changes that do not touch one another, put into one statement. Inside of one statement nothing sees what the others
 * change, and a row can be changed only once: so a table stands in it once, unless rows are only added to it.
 */
export class Batch {
  #shape = Shape.EMPTY;
  #parameters: SqlValue[] = [];

  /** False when the change has to wait for another statement. */
  take(sql: string, parameters: readonly SqlValue[]): boolean {
    const shape = this.#shape.followedBy(sql, parameters.length);
    if (shape === undefined) return false;
    this.#shape = shape;
    this.#parameters.push(...parameters);
    return true;
  }

  /** What was taken, as one statement, and the batch is empty again. */
  empty(): Statement | undefined {
    if (this.#shape === Shape.EMPTY) return undefined;
    const statement = toStatement(this.#shape.text(), this.#parameters);
    this.#shape = Shape.EMPTY;
    this.#parameters = [];
    return statement;
  }
}

/** Calls make the same short batches again and again; a copy makes long ones, once. */
const MAX_KEPT = 1000;
const MAX_KEPT_LENGTH = 20;
/** Putting a long statement together costs more than it saves. */
const MAX_TEXTS = 500;
let kept = 0;

/** The texts of a batch, without the values: whatever follows from them is found out once. */
class Shape {
  static readonly EMPTY = new Shape([], 0, new Set(), new Set());

  readonly #texts: readonly string[];
  readonly #parameterCount: number;
  readonly #added: ReadonlySet<string>;
  readonly #changed: ReadonlySet<string>;
  readonly #followers = new Map<string, Shape | undefined>();
  #text: string | undefined;

  constructor(
    texts: readonly string[],
    parameterCount: number,
    added: ReadonlySet<string>,
    changed: ReadonlySet<string>,
  ) {
    this.#texts = texts;
    this.#parameterCount = parameterCount;
    this.#added = added;
    this.#changed = changed;
  }

  /** Undefined when the next one cannot be in the same statement. */
  followedBy(sql: string, parameterCount: number): Shape | undefined {
    const known = this.#followers.get(sql);
    if (known !== undefined || this.#followers.has(sql)) return known;
    const shape = this.#follow(sql, parameterCount);
    if (kept < MAX_KEPT && this.#texts.length < MAX_KEPT_LENGTH) {
      kept += 1;
      this.#followers.set(sql, shape);
    }
    return shape;
  }

  text(): string {
    this.#text ??= merge(this.#texts);
    return this.#text;
  }

  #follow(sql: string, parameterCount: number): Shape | undefined {
    const [, table] = CHANGE.exec(sql) ?? [];
    const isPlain = sql.startsWith('INSERT') && !sql.includes('ON CONFLICT');
    if (table === undefined ? this.#texts.length > 0 : this.#changed.has(table)) return undefined;
    if (table !== undefined && !isPlain && this.#added.has(table)) return undefined;
    const isFull = this.#texts.length >= MAX_TEXTS || this.#parameterCount + parameterCount > MAX_PARAMETERS;
    if (isFull && this.#texts.length > 0) return undefined;
    const offset = this.#parameterCount;
    const text =
      offset === 0 ? sql : sql.replaceAll(/\$(\d+)/g, (_text, number: string) => `$${Number(number) + offset}`);
    return new Shape(
      [...this.#texts, text],
      offset + parameterCount,
      table !== undefined && isPlain ? new Set([...this.#added, table]) : this.#added,
      table !== undefined && !isPlain ? new Set([...this.#changed, table]) : this.#changed,
    );
  }
}

const CHANGE = /^\s*(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)/;

/** Rows for one table are one change. */
const ROWS = /^(INSERT INTO \w+ \([^)]*\)\s+VALUES )(\([^()]*\)(?:, \([^()]*\))*)$/;

function merge(texts: readonly string[]): string {
  const all: string[] = [];
  const places = new Map<string, number>();
  for (const text of texts) {
    const [, start, rows] = ROWS.exec(text) ?? [];
    const place = start === undefined ? undefined : places.get(start);
    if (place !== undefined) all[place] += `, ${rows}`;
    else if (start === undefined) all.push(text);
    else places.set(start, all.push(text) - 1);
  }
  const last = all.pop() ?? '';
  const others = all.map((text, index) => `change_${index} AS (${text})`);
  return others.length === 0 ? last : `WITH ${others.join(', ')} ${last}`;
}
