import type { SqlValue } from '../../database.ts';
import { MAX_PARAMETERS, type Statement, toStatement } from './statement.ts';

/**
 * Merges independent changes into one statement with CTEs. Its parts do not see each other's changes, and PostgreSQL
 * changes a row at most once in it, so it may change a table once, or insert into it any number of times.
 */
export class Batch {
  #shape = Shape.EMPTY;
  #parameters: SqlValue[] = [];

  /** Returns false if the change needs another statement. */
  take(sql: string, parameters: readonly SqlValue[]): boolean {
    const shape = this.#shape.followedBy(sql, parameters.length);
    if (shape === undefined) return false;
    this.#shape = shape;
    this.#parameters.push(...parameters);
    return true;
  }

  /** Returns the merged statement and empties the batch. */
  flush(): Statement | undefined {
    if (this.#shape === Shape.EMPTY) return undefined;
    const statement = toStatement(this.#shape.text(), this.#parameters);
    this.#shape = Shape.EMPTY;
    this.#parameters = [];
    return statement;
  }
}

/** Calls repeat the same short batches; a copy makes long ones that do not repeat. */
const MAX_CACHED = 1000;
const MAX_CACHED_LENGTH = 20;
/** Merging more statements costs more than it saves. */
const MAX_TEXTS = 500;
let cached = 0;

/** The texts of a batch without the values, so that merging them is cached. */
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

  /** Returns undefined if the next text needs another statement. */
  followedBy(sql: string, parameterCount: number): Shape | undefined {
    const known = this.#followers.get(sql);
    if (known !== undefined || this.#followers.has(sql)) return known;
    const shape = this.#follow(sql, parameterCount);
    if (cached < MAX_CACHED && this.#texts.length < MAX_CACHED_LENGTH) {
      cached += 1;
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

/** Plain inserts into one table are merged into one insert of several rows. */
const ROWS = /^(INSERT INTO \w+ \([^)]*\)\s+VALUES )(\([^()]*\)(?:, \([^()]*\))*)$/;

function merge(texts: readonly string[]): string {
  const all: string[] = [];
  const positions = new Map<string, number>();
  for (const text of texts) {
    const [, start, rows] = ROWS.exec(text) ?? [];
    const position = start === undefined ? undefined : positions.get(start);
    if (position !== undefined) all[position] += `, ${rows}`;
    else if (start === undefined) all.push(text);
    else positions.set(start, all.push(text) - 1);
  }
  const last = all.pop() ?? '';
  const others = all.map((text, index) => `change_${index} AS (${text})`);
  return others.length === 0 ? last : `WITH ${others.join(', ')} ${last}`;
}
