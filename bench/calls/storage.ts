import { readFileSync } from 'node:fs';
import type { Client } from '@modelcontextprotocol/client';
import { loadSqlite } from '../../src/db/sqlite/driver.ts';
import type { Workplace } from '../support/servers.ts';

/** What one `task_create` leaves on the disk and writes on the way. */
export interface StorageUse {
  readonly bytes: number;
  /** Pages that the commit of the enter entry writes. */
  readonly enterPages: number;
  /** Pages that the commit of the change and its exit entry writes. */
  readonly changePages: number;
}

const CREATES = 2000;
/** Few enough that SQLite does not reset the write-ahead log while they are counted. */
const COUNTED = 40;

/** A task as an agent writes it: with a description, ready to be claimed. */
const INPUT = {
  title: 'Measure what one call costs',
  project: 'bench',
  status: 'todo',
  description:
    'Say what is to be done, where, and why it matters, in two or three sentences, and how to see that it is finished, so that another agent can go on from here.',
};

export async function measureStorage(workplace: Workplace): Promise<StorageUse> {
  const path = workplace.path('storage.db');
  const client = await workplace.connect('colibri.cjs', {
    env: { COLIBRI_DB_PATH: path, COLIBRI_DURABILITY: 'relaxed' },
  });
  await create(client, 1);
  const database = (await loadSqlite()).open(path, { readOnly: false });
  try {
    const number = (pragma: string) =>
      Object.values(database.prepare(`PRAGMA ${pragma}`).all([])[0] as object)[0] as number;
    const usedBytes = () => (number('page_count') - number('freelist_count')) * number('page_size');
    const before = usedBytes();
    await create(client, CREATES);
    const bytes = (usedBytes() - before) / CREATES;
    number('wal_checkpoint(TRUNCATE)');
    await create(client, COUNTED);
    return { bytes, ...countPages(readFileSync(`${path}-wal`), number('page_size')) };
  } finally {
    database.close();
  }
}

async function create(client: Client, count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) {
    const { isError } = await client.callTool({ name: 'task_create', arguments: INPUT });
    if (isError) throw new Error('task_create failed');
  }
}

const WAL_HEADER = 32;
const FRAME_HEADER = 24;
/** The log twice, where it begins a new page, its head and presence. Other commits of a server are as small. */
const MOST_ENTER_PAGES = 5;

/** https://www.sqlite.org/fileformat2.html#walformat: the last frame of a commit has the size of the database. */
function countPages(wal: Buffer, pageSize: number): Omit<StorageUse, 'bytes'> {
  const commits: number[] = [];
  let pages = 0;
  for (let frame = WAL_HEADER; frame < wal.length; frame += FRAME_HEADER + pageSize) {
    pages += 1;
    if (wal.readUInt32BE(frame + 4) === 0) continue;
    commits.push(pages);
    pages = 0;
  }
  const mean = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0) / counts.length;
  return {
    enterPages: mean(commits.filter((count) => count <= MOST_ENTER_PAGES)),
    changePages: mean(commits.filter((count) => count > MOST_ENTER_PAGES)),
  };
}
