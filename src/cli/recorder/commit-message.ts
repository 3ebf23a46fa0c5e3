import { appendFileSync, existsSync, lstatSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Config, locateDatabase } from '../../config.ts';
import type { Database } from '../../db/database.ts';
import { assertMigrated } from '../../db/migrate.ts';
import { toError } from '../../errors.ts';
import { shortLedgerId, TRAILERS } from '../../git/read-commits.ts';
import { addTrailers, readMessage } from '../../git/trailers.ts';
import { printError } from '../../print-error.ts';
import { findTaskOfWorkTree } from '../../recorder/git/work-tree-task.ts';
import { readIdentity } from '../../trust/ledger-identity.ts';
import { openDatabase } from '../../trust/open-database.ts';
import { personActor } from '../people/person-name.ts';
import { readProjectConfig } from '../support/with-ledger.ts';

const TIME_LIMIT_MS = 2000;
const MAX_MESSAGE_BYTES = 1_048_576;
/** Git wrote these messages from several commits: their trailers are those of the commits. */
const COMBINING: ReadonlySet<string> = new Set(['merge', 'squash']);
/** Files of git that tell that it combines commits, or makes commits of earlier times again. */
const UNDER_WAY = ['MERGE_HEAD', 'SQUASH_MSG', 'rebase-merge', 'rebase-apply'];

/** The program of the hooks that add trailers. Never fails a commit: every fault ends with one line on stderr. */
export async function writeTrailers(file: string | undefined, source: string | undefined): Promise<void> {
  const timer = setTimeout(() => giveUp('took longer than 2 seconds'), TIME_LIMIT_MS);
  try {
    if (file !== undefined && !COMBINING.has(source ?? '')) await complete(file);
  } catch (error) {
    giveUp(toError(error).message);
  }
  clearTimeout(timer);
}

function giveUp(reason: string): never {
  try {
    printError([`colibri hook: ${reason}; no trailers were added to the commit`]);
  } finally {
    process.exit(0);
  }
}

async function complete(file: string): Promise<void> {
  if (UNDER_WAY.some((name) => existsSync(join(dirname(file), name)))) return;
  const text = readText(file);
  if (text === undefined || new RegExp(`^${TRAILERS.checkpoint}:`, 'im').test(text)) return;
  const config = readProjectConfig();
  if (config.databaseUrl === undefined && !existsSync(locateDatabase(config))) return;
  const [message, trailers] = await Promise.all([readMessage(text), readTrailers(config)]);
  // Git refuses a commit without a message; trailers alone would count as one.
  if (message === '') return;
  // Git would take a trailer after an unfinished line for a part of the message.
  if (!text.endsWith('\n')) appendFileSync(file, '\n');
  await addTrailers(file, trailers);
}

function readText(file: string): string | undefined {
  const stats = lstatSync(file);
  return stats.isFile() && stats.size <= MAX_MESSAGE_BYTES ? readFileSync(file, 'utf8') : undefined;
}

async function readTrailers(config: Config): Promise<Record<string, string>> {
  const { databaseUrl, dbPath, projectDbPath } = config;
  const place = { databaseUrl, dbPath, projectDbPath };
  const database = await openDatabase({ ...place, mode: 'READONLY', durability: 'full', readOnly: true });
  try {
    await assertMigrated(database);
    return await database.read(async (reader) => {
      const identity = await readIdentity(reader);
      if (identity === undefined) throw new Error('the ledger has no first entry');
      const taskId = await findTaskOfWorkTree(reader, database, { folder: process.cwd(), person: findPerson() });
      return {
        ...(taskId !== undefined && { [TRAILERS.task]: taskId }),
        [TRAILERS.checkpoint]: `${identity.size}:${identity.root}`,
        [TRAILERS.ledger]: shortLedgerId(identity.ledgerId),
      };
    });
  } finally {
    await close(database);
  }
}

function findPerson(): string | undefined {
  try {
    return personActor();
  } catch {
    return undefined;
  }
}

/** The trailers do not depend on it. */
async function close(database: Database): Promise<void> {
  await database.close().catch(() => undefined);
}
