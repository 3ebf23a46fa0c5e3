import type { SqlValue } from './database.ts';

/** Texts that are put together at run time may be many; the server keeps a plan for the first of them. */
const MAX_NAMED = 300;

export interface Statement {
  /** Empty for one that the server forgets. */
  readonly name: string;
  readonly text: string;
  readonly parameters: readonly SqlValue[];
}

const names = new Map<string, string>();
const counts = new Map<string, number>();

/** A text that has a name is parsed and planned once for each connection. */
export function toStatement(sql: string, parameters: readonly SqlValue[]): Statement {
  assertParameters(sql, parameters);
  let name = names.get(sql);
  if (name === undefined && names.size < MAX_NAMED) {
    name = `colibri_${names.size}`;
    names.set(sql, name);
  }
  return { name: name ?? '', text: sql, parameters };
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
