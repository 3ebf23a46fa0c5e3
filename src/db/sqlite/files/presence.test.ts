import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../../../test/support/folders.ts';
import { openTestDatabase } from '../../../../test/support/ledger.ts';
import { loadSqlite, type SqliteDriver } from '../driver.ts';
import { LiveCount } from './live-count.ts';
import { createPresence, listPresenceFiles, presencePath } from './presence.ts';
import { isServed } from './replace.ts';

const sqlite = await loadSqlite();

describe('presence files of dead processes', () => {
  it('does not count dead processes among those that compete for the lock', async () => {
    const path = join(tempFolder(), 'colibri.db');
    const database = await openTestDatabase({ path });
    await database.enlist(randomUUID());
    leaveFiles(path, 20);
    expect(new LiveCount(sqlite, path).read()).toBe(1);
  });

  it('probes presence files again when they change or after a while, not each time', async () => {
    const path = join(tempFolder(), 'colibri.db');
    const processId = randomUUID();
    const database = await openTestDatabase({ path });
    await database.enlist(processId);
    let nowMs = 0;
    const count = new LiveCount(sqlite, path, () => nowMs);
    expect(count.read()).toBe(1);
    // As if the process had been killed: its file stays and nothing locks it.
    await database.close();
    writeFileSync(presencePath(path, processId), '', { mode: 0o600 });
    nowMs = 29_000;
    expect(count.read()).toBe(1);
    nowMs = 31_000;
    expect(count.read()).toBe(0);
    const second = await openTestDatabase({ path });
    await second.enlist(randomUUID());
    expect(count.read()).toBe(1);
    await second.close();
    expect(count.read()).toBe(0);
  });

  it('keeps presence files when a command checks whether a server runs', async () => {
    const path = join(tempFolder(), 'colibri.db');
    // A server that is starting has created its file and not locked it yet.
    leaveFiles(path, 1);
    expect(await isServed(path)).toBe(false);
    expect(listPresenceFiles(path)).toHaveLength(1);
  });

  it('removes dead presence files over several starts, so that no start is slow', async () => {
    const folder = tempFolder();
    const path = join(folder, 'colibri.db');
    const database = await openTestDatabase({ path });
    leaveFiles(path, 600);
    await database.enlist(randomUUID());
    expect(countFiles(folder)).toBe(101);
    const next = await openTestDatabase({ path });
    await next.enlist(randomUUID());
    expect(countFiles(folder)).toBe(2);
  });
});

describe('a check of a presence file', () => {
  it('does not make the start of its process fail', async () => {
    const path = join(tempFolder(), 'colibri.db');
    const database = await openTestDatabase({ path });
    const processId = randomUUID();
    const check = await openCheck(presencePath(path, processId));
    const enlisting = database.enlist(processId);
    // Past several attempts to lock the file.
    for (let tick = 0; tick < 5; tick += 1) await new Promise((resolve) => setTimeout(resolve, 5));
    check.close();
    await enlisting;
    expect(await database.isAlive(processId)).toBe(true);
  });
});

describe('a presence file that was removed', () => {
  it('is made again by the next write, which looks for it at most once a second', async () => {
    const path = join(tempFolder(), 'colibri.db');
    const [processId, own] = [randomUUID(), randomUUID()];
    const database = await openTestDatabase({ path });
    await database.enlist(processId);
    const other = await openTestDatabase({ path });
    await other.enlist(own);
    const write = () => database.write({ durable: false }, async () => undefined);
    rmSync(presencePath(path, processId));
    expect(await other.isAlive(processId)).toBe(false);
    const isAliveAfterWrite = () => write().then(() => other.isAlive(processId));
    await expect.poll(isAliveAfterWrite, { timeout: 10_000 }).toBe(true);
    await database.close();
    expect(listPresenceFiles(path)).toEqual([presencePath(path, own)]);
    const presence = createPresence(sqlite, presencePath(path, processId));
    const nowMs = performance.now();
    expect([presence.isRemoved(nowMs), presence.isRemoved(nowMs + 1500), presence.isRemoved(nowMs + 2000)]).toEqual([
      false,
      true,
      false,
    ]);
  });
});

/** In the middle of what `isLocked` does. */
async function openCheck(file: string): Promise<SqliteDriver> {
  writeFileSync(file, '', { mode: 0o600 });
  const driver = sqlite.open(file, { readOnly: true });
  driver.exec('BEGIN; SELECT 1 FROM sqlite_schema');
  return driver;
}

function leaveFiles(path: string, count: number): void {
  for (let file = 0; file < count; file += 1) writeFileSync(presencePath(path, randomUUID()), '', { mode: 0o600 });
}

function countFiles(folder: string): number {
  return readdirSync(folder).filter((name) => name.endsWith('.live')).length;
}
