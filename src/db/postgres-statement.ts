import type { QueryConfig } from 'pg';
import type { SqlValue } from './database.ts';

/** Texts that are put together at run time may be many; the server keeps a plan for the first of them. */
const MAX_NAMED = 300;
const names = new Map<string, string>();
const counts = new Map<string, number>();

/** A text that has a name is parsed and planned once for each connection. */
export function toStatement(sql: string, parameters: readonly SqlValue[]): QueryConfig {
  assertParameters(sql, parameters);
  const values = parameters.map(toParameter);
  const name = names.get(sql) ?? (names.size < MAX_NAMED ? `colibri_${names.size}` : undefined);
  if (name === undefined) return { text: sql, values };
  names.set(sql, name);
  return { name, text: sql, values };
}

/** The server's own message would come too late to tell which statement it was. */
export function assertParameters(sql: string, parameters: readonly SqlValue[]): void {
  let count = counts.get(sql);
  if (count === undefined) {
    count = Math.max(0, ...[...sql.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
    if (counts.size < MAX_NAMED) counts.set(sql, count);
  }
  if (parameters.length !== count) throw new Error(`${count} parameters wanted, ${parameters.length} given: ${sql}`);
}

/** SQLite takes what is no number for NULL, which equals nothing; so does this. */
function toParameter(value: SqlValue): SqlValue {
  return typeof value === 'number' && !Number.isFinite(value) ? null : value;
}

/**
 * Changes that do not touch one another, put into one statement. Inside of one statement nothing sees what the others
 * change, and a row can be changed only once: so a table stands in it once, unless rows are only added to it.
 */
export class Batch {
  readonly #texts: string[] = [];
  readonly #values: SqlValue[] = [];
  readonly #added = new Set<string>();
  readonly #changed = new Set<string>();

  /** False when the change has to wait for another statement. */
  take(sql: string, parameters: readonly SqlValue[]): boolean {
    const [, table] = CHANGE.exec(sql) ?? [];
    if (table === undefined) return this.#texts.length === 0 && this.#push(sql, parameters);
    const isPlain = sql.startsWith('INSERT') && !sql.includes('ON CONFLICT');
    if (this.#changed.has(table) || (!isPlain && this.#added.has(table))) return false;
    (isPlain ? this.#added : this.#changed).add(table);
    return this.#push(sql, parameters);
  }

  toStatement(): QueryConfig | undefined {
    const last = this.#texts.pop();
    if (last === undefined) return undefined;
    const others = this.#texts.map((text, index) => `change_${index} AS (${text})`);
    return toStatement(others.length === 0 ? last : `WITH ${others.join(', ')} ${last}`, this.#values);
  }

  #push(sql: string, parameters: readonly SqlValue[]): true {
    const offset = this.#values.length;
    this.#texts.push(offset === 0 ? sql : sql.replaceAll(/\$(\d+)/g, (_text, number) => `$${Number(number) + offset}`));
    this.#values.push(...parameters);
    return true;
  }
}

const CHANGE = /^\s*(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)/;
