import type { Reader } from '../../db/database.ts';
import { toLatin1 } from '../latin1-text.ts';
import type { TreeNode } from '../log-tree.ts';
import { SEPARATOR } from '../stored-page.ts';
import { isNumber, isText, packed, type SqlByEngine } from './packed-rows.ts';

const ROWS = 'ledger_nodes WHERE level = $1 AND idx >= $2 AND idx < $3';
const VALUES = packed(`concat(idx, '${SEPARATOR}', hash)`);

/** One level of stored nodes as one value. */
const NODES: SqlByEngine = {
  // Scans the primary key in order: an ORDER BY would make SQLite copy every row.
  sqlite: `SELECT ${VALUES} AS nodes FROM ${ROWS} AND ${isNumber('idx')} AND ${isText.sqlite('hash')}`,
  postgres: `SELECT ${VALUES} AS nodes FROM (SELECT idx, hash FROM ${ROWS} ORDER BY idx) AS level`,
};

/** True if exactly the computed nodes are stored. Expects those of one level to be consecutive. */
export async function areNodesStored(reader: Reader, nodes: readonly TreeNode[]): Promise<boolean> {
  const levels = new Map<number, { readonly first: number; count: number; text: string }>();
  for (const { level, index, hash } of nodes) {
    const known = levels.get(level);
    if (known === undefined) levels.set(level, { first: index, count: 1, text: index + SEPARATOR + hash });
    else {
      known.count += 1;
      known.text += SEPARATOR + index + SEPARATOR + hash;
    }
  }
  for (const [level, { first, count, text }] of levels) {
    const [found] = await reader.query<{ nodes: Uint8Array | null }>(NODES[reader.engine], [
      level,
      first,
      first + count,
    ]);
    if (toLatin1(found?.nodes ?? '') !== text) return false;
  }
  return true;
}
