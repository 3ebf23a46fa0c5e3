import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { RememberedCheckpoints } from '../../src/checkpoints/remembered.ts';
import { assertExtends } from '../../src/checkpoints/rollback.ts';
import type { Database, Reader } from '../../src/db/database.ts';
import { leafHash, parseEntry } from '../../src/integrity/index.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { openDatabase } from '../../src/trust/open-database.ts';
import { verifyEverything } from '../../src/verification/verify-ledger.ts';
import type { Outcome, Part, Round } from '../part.ts';
import type { Random } from '../random.ts';
import { ServerProcess } from '../server-process.ts';
import { DiskModel, SURVIVALS } from './disk-model.ts';
import { CAN_TRACE, NO_STRACE } from './injection.ts';
import { type DiskEvent, readWriteLog, straceLauncher } from './write-log.ts';

export const POWER: Part = {
  name: 'power',
  says: 'cuts the power at moments of a recorded write log; what was not synced is lost, torn or reordered',
  play,
};

async function play({ size, random, folder }: Round): Promise<Outcome> {
  if (!CAN_TRACE) return { counts: { 'power losses': 0 }, problems: [], skipped: [NO_STRACE] };
  const durability = size === 'short' || random.isOneIn(2) ? 'full' : 'relaxed';
  const thoughts = size === 'short' ? 2 : random.between(1, 90);
  const recording = await recordServers(folder, durability, [thoughts, size === 'short' ? 1 : random.between(1, 9)]);
  return cutPower(recording, random, size === 'short' ? 5 : 60);
}

/** What was written to a project and to the configuration folder of its user. */
interface Recording {
  readonly root: string;
  readonly durability: 'full' | 'relaxed';
  readonly events: readonly DiskEvent[];
  /** The log at the end. */
  readonly entries: readonly string[];
}

const PROJECT = 'project';
const CONFIG = 'config';
const AT = '2026-04-08T22:00:00.000Z';

/**
 * Runs servers one after the other in a new project, with this many thoughts each, and records what they do to the
 * disk.
 */
async function recordServers(
  root: string,
  durability: 'full' | 'relaxed',
  thoughts: readonly number[],
): Promise<Recording> {
  const [cwd, config] = [join(root, PROJECT), join(root, CONFIG)];
  for (const folder of [cwd, config]) mkdirSync(folder, { mode: 0o700 });
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: config,
    XDG_CONFIG_HOME: config,
    COLIBRI_DURABILITY: durability,
    COLIBRI_LOG_LEVEL: 'error',
  };
  const events: DiskEvent[] = [
    { kind: 'folder', path: PROJECT },
    { kind: 'folder', path: CONFIG },
    { kind: 'sync ended', path: '' },
  ];
  for (const [number, count] of thoughts.entries()) {
    const trace = join(root, `trace-${number}`);
    const program = resolve('dist/colibri.cjs');
    const server = new ServerProcess({ program, cwd, env, launcher: straceLauncher(trace) });
    await server.initialize('recorded');
    await work(server, count);
    server.closeInput();
    await server.exit;
    for (const event of readWriteLog(trace, root)) events.push(event);
    rmSync(trace);
  }
  const database = await openImage(root);
  const entries = await database.read(listEntries);
  await database.close();
  return { root, durability, events, entries };
}

/** With enough thoughts SQLite checkpoints its log, and the sealed session is signed. */
async function work(server: ServerProcess, thoughts: number): Promise<void> {
  const change = async (tool: string, input: object) => {
    const reply = await server.call(tool, input);
    if (reply?.outcome !== 'ok') throw new Error(`${tool}: ${reply?.outcome}; ${server.errors}`);
    return reply.data;
  };
  const { task_id } = await change('task_create', { title: 'Parse dates', status: 'todo' });
  const { session_id } = await change('audit_session_start', { task_id, auditor_id: 'auditor' });
  for (let number = 0; number < thoughts; number += 1)
    await change('thought_record', { task_id, type: 'decision', content: 'why '.repeat(1000) });
  await change('merkle_finalize', { session_id });
}

/**
 * Cuts the power at moments of the recording, and judges what is found afterwards. Before each sync and after each
 * answer: between two of them, what is on disk differs only in what has not been synced, which is chosen anyway.
 */
async function cutPower(recording: Recording, random: Random, maxMoments: number): Promise<Outcome> {
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
        disk.writeImage(image, survival, () => random.below(2 ** 32) / 2 ** 32);
        images += 1;
        const where = `before event ${index} of ${recording.events.length}, unsynced: ${survival}`;
        for (const problem of await judge(image, recording, receipts)) problems.push(`${where}: ${problem}`);
        rmSync(image, { recursive: true });
      }
    if (event?.kind === 'answer') receipts.push(...[receiptsIn(event.text)].flat());
    if (event !== undefined) disk.apply(event);
  }
  if (receipts.length === 0) problems.push('the recording has no answered change');
  return { counts: { 'power losses': images, 'answered changes': receipts.length }, problems };
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
  if (!existsSync(ledgerOf(image)))
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
  // A ledger that was not yet created starts empty.
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

function ledgerOf(root: string): string {
  return join(root, PROJECT, '.colibri', 'colibri.db');
}

function openImage(root: string): Promise<Database> {
  return openDatabase({ mode: 'FULL', dbPath: ledgerOf(root), durability: 'relaxed', readOnly: false });
}

async function listEntries(reader: Reader): Promise<string[]> {
  const rows = await reader.query<{ entry: string }>('SELECT entry FROM ledger_entries ORDER BY idx');
  return rows.map(({ entry }) => entry);
}
