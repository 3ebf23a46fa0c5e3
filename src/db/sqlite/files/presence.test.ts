import { randomUUID } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../../../test/support/folders.ts';
import { openTestDatabase } from '../../../../test/support/ledger.ts';
import { loadSqlite } from '../driver.ts';
import { countLive, presencePath } from './presence.ts';

const sqlite = await loadSqlite();

describe('presence files of dead processes', () => {
  it('do not count as processes that compete for the lock', async () => {
    const path = join(tempFolder(), 'colibri.db');
    const database = await openTestDatabase({ path });
    await database.enlist(randomUUID());
    leaveFiles(path, 20);
    expect(countLive(sqlite, path)).toBe(1);
  });

  it('are removed over several starts, so that none of them is slow', async () => {
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

function leaveFiles(path: string, count: number): void {
  for (let file = 0; file < count; file += 1) writeFileSync(presencePath(path, randomUUID()), '', { mode: 0o600 });
}

function countFiles(folder: string): number {
  return readdirSync(folder).filter((name) => name.endsWith('.live')).length;
}
