import { createHash } from 'node:crypto';
import type { SqlValue } from '../../database.ts';

/** Texts that are put together at run time may be many; the server keeps a plan for the first of them. */
const MAX_NAMED = 300;

/** The protocol counts the parameters of a statement in two bytes. */
export const MAX_PARAMETERS = 65_535;

export interface Statement {
  /** Empty for one that the server forgets. */
  readonly name: string;
  readonly text: string;
  readonly parameters: readonly SqlValue[];
  /** What the server must say that it has done, where anything else would be no success. */
  readonly tag?: string;
}

const names = new Map<string, string>();
const counts = new Map<string, number>();

/** A text that has a name is parsed and planned once for each connection. */
export function toStatement(sql: string, parameters: readonly SqlValue[]): Statement {
  assertParameters(sql, parameters);
  let name = names.get(sql);
  if (name === undefined && names.size < MAX_NAMED) {
    name = nameOf(sql);
    names.set(sql, name);
  }
  return { name: name ?? '', text: sql, parameters };
}

/** By its text: where a pooler mixes the connections of several servers, a name must mean the same to all of them. */
function nameOf(sql: string): string {
  return `colibri_${createHash('sha256').update(sql).digest('base64url').slice(0, 22)}`;
}

/** The server's own message would come too late to tell which statement it was. */
export function assertParameters(sql: string, parameters: readonly SqlValue[]): void {
  let count = counts.get(sql);
  if (count === undefined) {
    count = Math.max(0, ...[...sql.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
    if (counts.size < MAX_NAMED) counts.set(sql, count);
  }
  if (parameters.length !== count) throw new Error(`${count} parameters wanted, ${parameters.length} given: ${sql}`);
  if (count > MAX_PARAMETERS) throw new Error(`${count} parameters are more than a statement can have`);
  // The driver would throw while it writes, when a part has left and nobody is there to catch it.
  const other = parameters.find((value) => typeof value !== 'string' && typeof value !== 'number' && value != null);
  if (other !== undefined)
    throw new TypeError(`a parameter is neither text nor number nor null, but ${typeof other}: ${sql}`);
}
