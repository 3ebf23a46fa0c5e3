import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { RememberedCheckpoints } from '../../../src/checkpoints/remembered.ts';
import { assertExtends } from '../../../src/checkpoints/rollback.ts';
import type { Database, Reader } from '../../../src/db/database.ts';
import { leafHash, parseEntry } from '../../../src/integrity/index.ts';
import { openLedger } from '../../../src/ledger/open.ts';
import { openDatabase } from '../../../src/trust/open-database.ts';
import { verifyEverything } from '../../../src/verification/verify-ledger.ts';
import { AT, ledgerIn } from '../ledger.ts';
import { seededRandom } from '../properties.ts';
import { connectRaw, type RawClient } from '../raw-client.ts';
import { DiskModel, SURVIVALS } from './disk-model.ts';
import { type DiskEvent, readWriteLog, straceLauncher } from './write-log.ts';

/** What was written to a project and to the configuration folder of its user. */
export interface Recording {
  readonly root: string;
  readonly durability: 'full' | 'relaxed';
  readonly events: readonly DiskEvent[];
  /** The log at the end. */
  readonly entries: readonly string[];
}

const PROJECT = 'project';
const CONFIG = 'config';

/** Runs servers one after the other in a new project and records what each does to the disk. */
export async function recordServers(
  root: string,
  durability: 'full' | 'relaxed',
  servers: readonly ((client: RawClient) => Promise<void>)[],
): Promise<Recording> {
  const [project, config] = [join(root, PROJECT), join(root, CONFIG)];
  for (const folder of [project, config]) mkdirSync(folder, { mode: 0o700 });
  const events: DiskEvent[] = [
    { kind: 'folder', path: PROJECT },
    { kind: 'folder', path: CONFIG },
    { kind: 'sync ended', path: '' },
  ];
  for (const [number, work] of servers.entries()) {
    const trace = join(root, `trace-${number}`);
    const env = { XDG_CONFIG_HOME: config, COLIBRI_KEY_PATH: '', COLIBRI_DURABILITY: durability };
    const client = await connectRaw({ cwd: project, env, launcher: straceLauncher(trace) });
    await work(client);
    await client.end();
    for (const event of readWriteLog(trace, root)) events.push(event);
    rmSync(trace);
  }
  const database = await openImage(root);
  const entries = await database.read(listEntries);
  await database.close();
  return { root, durability, events, entries };
}

/** What was found wrong, and how much was tried. */
export interface Verdict {
  readonly images: number;
  readonly answered: number;
  readonly problems: readonly string[];
}

/**
 * Cuts the power at moments of the recording, and judges what is found afterwards. Before each sync and after each
 * answer: between two of them, what is on disk differs only in what has not been synced, which is chosen anyway.
 */
export async function cutPower(recording: Recording, seed: number, maxMoments: number): Promise<Verdict> {
  const random = seededRandom(seed);
  const moments = recording.events.flatMap(({ kind }, index) =>
    kind === 'sync ended' ? [index] : kind === 'answer' ? [index + 1] : [],
  );
  const step = Math.max(1, moments.length / maxMoments);
  const chosen = new Set(moments.filter((_, position) => Math.floor(position % step) === 0));
  const disk = new DiskModel();
  const receipts: Receipt[] = [];
  const problems: string[] = [];
  let images = 0;
  for (const [index, event] of [...recording.events, undefined].entries()) {
    if (chosen.has(index) || event === undefined)
      for (const survival of SURVIVALS) {
        const image = mkdtempSync(join(recording.root, 'image-'));
        disk.writeImage(image, survival, random);
        images += 1;
        const where = `before event ${index} of ${recording.events.length}, unsynced: ${survival}`;
        for (const problem of await judge(image, recording, receipts)) problems.push(`${where}: ${problem}`);
        rmSync(image, { recursive: true });
      }
    if (event?.kind === 'answer') receipts.push(...[receiptsIn(event.text)].flat());
    if (event !== undefined) disk.apply(event);
  }
  return { images, answered: receipts.length, problems };
}

interface Receipt {
  readonly index: number;
  readonly leaf: string;
}

function receiptsIn(answer: string): Receipt | readonly [] {
  const { result } = JSON.parse(answer) as { result?: { _meta?: Record<string, Receipt> } };
  return result?._meta?.['colibri/receipt'] ?? [];
}

async function judge(image: string, recording: Recording, receipts: readonly Receipt[]): Promise<string[]> {
  const hasPromised = recording.durability === 'full' && receipts.length > 0;
  if (!existsSync(ledgerIn(join(image, PROJECT))))
    return hasPromised ? [`the ledger is gone with ${receipts.length} answered changes`] : [];
  let database: Database | undefined;
  try {
    database = await openImage(image);
    await openLedger(database, 'the next server', AT);
    return await database.read((reader) => judgeLedger(reader, image, recording, hasPromised ? receipts : []));
  } catch (error) {
    return [`the ledger cannot be used: ${String(error)}`];
  } finally {
    await database?.close();
  }
}

async function judgeLedger(
  reader: Reader,
  image: string,
  { entries }: Recording,
  receipts: readonly Receipt[],
): Promise<string[]> {
  const { problems } = await verifyEverything(reader);
  const found = await listEntries(reader);
  // A ledger that had not been created begins anew.
  const isNew = found.length === 1 && receipts.length === 0;
  const isPrefix = isNew || found.every((entry, index) => entry === entries[index]);
  const lost = receipts.filter(({ index, leaf }) => found[index] === undefined || leafHash(found[index]) !== leaf);
  return [
    ...problems.map(({ place, problem }) => `${place}: ${problem}`),
    ...(isPrefix ? [] : ['the log is not a prefix of what was written']),
    ...(lost.length === 0 ? [] : [`${lost.length} answered changes are lost`]),
    ...(isNew ? [] : await findRollback(reader, image, found)),
  ];
}

/** After a power loss, no server may believe that the user has restored an old backup. */
async function findRollback(reader: Reader, image: string, entries: readonly string[]): Promise<string[]> {
  const genesis = parseEntry(entries[0] ?? '');
  if (typeof genesis?.['ledger_id'] !== 'string') return ['there is no genesis'];
  const last = new RememberedCheckpoints(genesis['ledger_id'], join(image, CONFIG)).newest();
  if (last === undefined) return [];
  try {
    await assertExtends(reader, last);
    return [];
  } catch (error) {
    return [String(error)];
  }
}

function openImage(root: string): Promise<Database> {
  const dbPath = ledgerIn(join(root, PROJECT));
  return openDatabase({ mode: 'FULL', dbPath, durability: 'relaxed', readOnly: false });
}

async function listEntries(reader: Reader): Promise<string[]> {
  const rows = await reader.query<{ entry: string }>('SELECT entry FROM ledger_entries ORDER BY idx');
  return rows.map(({ entry }) => entry);
}
