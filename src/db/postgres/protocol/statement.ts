import { createHash } from 'node:crypto';
import type { SqlValue } from '../../database.ts';

/** Merged texts may be many; only the first ones become prepared statements. */
const MAX_NAMED = 300;

/** The protocol counts the parameters of a statement in two bytes. */
export const MAX_PARAMETERS = 65_535;

export interface Statement {
  /** Empty for an unnamed statement, which the server does not keep. */
  readonly name: string;
  readonly text: string;
  readonly parameters: readonly SqlValue[];
  /** The command tag that counts as success, if not every tag does. */
  readonly tag?: string;
}

const names = new Map<string, string>();
const counts = new Map<string, number>();

/** A named statement is parsed once for each connection. */
export function toStatement(sql: string, parameters: readonly SqlValue[]): Statement {
  assertParameters(sql, parameters);
  let name = names.get(sql);
  if (name === undefined && names.size < MAX_NAMED) {
    name = nameOf(sql);
    names.set(sql, name);
  }
  return { name: name ?? '', text: sql, parameters };
}

/** Derived from the text: behind a pooler several servers share a backend, so a name must mean the same to all. */
function nameOf(sql: string): string {
  return `colibri_${createHash('sha256').update(sql).digest('base64url').slice(0, 22)}`;
}

/** Checked here, because the server's error would not tell which statement of a packet it means. */
export function assertParameters(sql: string, parameters: readonly SqlValue[]): void {
  let count = counts.get(sql);
  if (count === undefined) {
    count = Math.max(0, ...[...sql.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
    if (counts.size < MAX_NAMED) counts.set(sql, count);
  }
  if (parameters.length !== count)
    throw new Error(`expected ${count} parameters, received ${parameters.length}: ${sql}`);
  if (count > MAX_PARAMETERS) throw new Error(`${count} parameters are more than a statement can have`);
  // The driver would throw while it writes, after it has sent a part of the packet.
  const other = parameters.find((value) => typeof value !== 'string' && typeof value !== 'number' && value != null);
  if (other !== undefined)
    throw new TypeError(`a parameter is neither text nor number nor null, but ${typeof other}: ${sql}`);
}
