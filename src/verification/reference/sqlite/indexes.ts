import { DatabaseError, type Reader } from '../../../db/database.ts';
import { toError } from '../../../errors.ts';

export interface Damage {
  readonly place: string;
  readonly problem: string;
}

export interface DamageReport {
  readonly damages: readonly Damage[];
  /** False: the b-tree pages are linked wrongly, and a query over them may never end. */
  readonly isSafeToRead: boolean;
}

/**
 * What SQLite itself finds wrong with the whole file: pages that two tables, or a table and the freelist, both use; an
 * index that leaves a row out. Only for a schema that was compared: the check evaluates its expressions.
 */
export async function findDamageInSqlite(reader: Reader): Promise<DamageReport> {
  // After its first problem SQLite would continue to walk the rows of a damaged b-tree.
  let first: string | undefined;
  try {
    first = (await checkIntegrity(reader, '1')) ?? (await checkFreePages(reader));
    if (first === undefined) return await findDamagedIndexes(reader);
  } catch (thrown) {
    const message = reasonOf(thrown);
    if (message === undefined) throw thrown;
    return { damages: [damage(message.includes('fts5') ? SEARCH_TABLE : 'file', message)], isSafeToRead: false };
  }
  if (first.startsWith(DAMAGED_PAGES)) return { damages: [await describePages(reader, first)], isSafeToRead: false };
  const damages = await listDamagedTables(reader);
  return { damages: damages.length > 0 ? damages : [damage(SEARCH_TABLE, first)], isSafeToRead: true };
}

/** SQLite's message about a file that it cannot check; undefined for any other error, such as a lost lock. */
function reasonOf(thrown: unknown): string | undefined {
  const error = toError(thrown);
  if (error instanceof DatabaseError)
    return error.fault === 'corrupt' ? toError(error.cause ?? error).message : undefined;
  return 'code' in error && String(error.code).includes('SQLITE') ? error.message : undefined;
}

/** SQLite's heading for problems with pages; problems with rows have none. */
const DAMAGED_PAGES = '*** in database';

/**
 * SQLite leaves the freelist and unused pages out of its check if the first table in memory is a view or a virtual
 * table, which have no page. The order of the rows in sqlite_schema decides that: VACUUM and a forger change it.
 */
async function checkFreePages(reader: Reader): Promise<string | undefined> {
  // The one table whose check covers the freelist as well.
  const problem = await checkIntegrity(reader, "'sqlite_schema'");
  if (problem !== undefined) return problem;
  const [first] = await reader.query<{ type: string }>('PRAGMA main.table_list');
  if (first?.type === 'table') return undefined;
  const [used] = await reader.query<{ pages: number }>('SELECT COUNT(*) AS pages FROM dbstat');
  const [free] = await reader.query<{ freelist_count: number }>('PRAGMA freelist_count');
  const [count] = await reader.query<{ page_count: number }>('PRAGMA page_count');
  const [size] = await reader.query<{ page_size: number }>('PRAGMA page_size');
  const [total, pageSize] = [count?.page_count ?? 0, size?.page_size ?? 0];
  // The page with the byte that SQLite locks belongs to no table: https://www.sqlite.org/fileformat.html
  const lockPages = total > LOCK_BYTE / pageSize ? 1 : 0;
  const known = (used?.pages ?? 0) + (free?.freelist_count ?? 0) + lockPages;
  if (known === total) return undefined;
  return `${DAMAGED_PAGES} main ***\nthe file has ${total} pages, and ${known} of them are used or free`;
}

const LOCK_BYTE = 0x4000_0000;

interface Index {
  readonly name: string;
  readonly table: string;
  readonly condition: string | null;
}

const INDEXES = `SELECT name, tbl_name AS "table",
    CASE WHEN instr(sql, ' WHERE ') > 0 THEN substr(sql, instr(sql, ' WHERE ')) END AS condition
  FROM sqlite_schema WHERE type = 'index' ORDER BY name`;

/**
 * What SQLite's check leaves out (3.51 and 3.53 do): entries of a partial index that no row has, which a query returns,
 * and the type of the root page of an index without entries, which fails the first read.
 */
async function findDamagedIndexes(reader: Reader): Promise<DamageReport> {
  const damages: Damage[] = [];
  for (const { name, table, condition } of await reader.query<Index>(INDEXES)) {
    await reader.query(`SELECT 1 FROM ${table} INDEXED BY ${name} ${condition ?? ''} LIMIT 1`);
    if (condition === null) continue;
    const [count] = await reader.query<{ entries: number; rows: number }>(
      `SELECT (SELECT SUM(ncell) FROM dbstat WHERE name = $1) AS entries,
         (SELECT COUNT(*) FROM ${table} NOT INDEXED ${condition}) AS rows`,
      [name],
    );
    if (count?.entries !== count?.rows)
      damages.push(damage(table, `index ${name} has ${count?.entries} entries for ${count?.rows} rows`));
  }
  return { damages, isSafeToRead: true };
}

/** The only virtual table of a ledger, which SQLite cannot check by name. */
const SEARCH_TABLE = 'task_search';

async function listDamagedTables(reader: Reader): Promise<Damage[]> {
  const tables = await reader.query<{ name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name",
  );
  const damages: Damage[] = [];
  for (const { name } of tables) {
    const problem = await checkIntegrity(reader, `'${name.replaceAll("'", "''")}'`);
    if (problem !== undefined) damages.push(damage(name, problem));
  }
  return damages;
}

async function checkIntegrity(reader: Reader, argument: string): Promise<string | undefined> {
  const [first] = await reader.query<{ integrity_check: string }>(`PRAGMA integrity_check(${argument})`);
  return first?.integrity_check === 'ok' ? undefined : (first?.integrity_check ?? 'SQLite gives no reason');
}

async function describePages(reader: Reader, text: string): Promise<Damage> {
  const detail = text.slice(text.indexOf('\n') + 1);
  const root = /^(?:Tree|2nd reference to page) (\d+)\b/.exec(detail)?.[1];
  const [owner] = await reader.query<{ name: string }>('SELECT name FROM sqlite_schema WHERE rootpage = $1', [
    Number(root ?? 0),
  ]);
  if (root === undefined || owner === undefined)
    return damage(detail.startsWith('Freelist') ? 'freelist' : 'file', detail);
  return damage(owner.name, detail);
}

function damage(place: string, detail: string): Damage {
  return { place, problem: `is damaged: ${detail}` };
}
