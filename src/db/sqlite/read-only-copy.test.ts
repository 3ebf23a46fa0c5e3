import { appendFileSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { recordCalls } from '../../../test/support/ledger.ts';
import { promiseTest } from '../../../test/support/promise-test.ts';
import { readSize } from '../../ledger/head.ts';
import { openLedger } from '../../ledger/open.ts';
import type { Database } from '../database.ts';
import { openSqlite } from './database.ts';
import { openReadOnlyCopy } from './read-only-copy.ts';

const OPTIONS = { durability: 'relaxed', busyTimeoutMs: 1000 } as const;
const PROCESS = '00000000-0000-4000-8000-000000000001';

/** A folder for temporary files of its own, so that a test sees what is left there. */
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'colibri-unwritable-'));
  const earlier = process.env['TMPDIR'];
  onTestFinished(() => {
    if (earlier === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = earlier;
    rmSync(folder, { recursive: true, force: true });
  });
  process.env['TMPDIR'] = folder;
  return folder;
}

async function openWriter(path: string): Promise<Database> {
  const writer = await openSqlite({ ...OPTIONS, path, readOnly: false });
  onTestFinished(() => writer.close());
  await openLedger(writer, 'tester', '2026-01-01T00:00:00.000Z');
  return writer;
}

async function openCopy(path: string): Promise<Database> {
  const copy = await openReadOnlyCopy({ ...OPTIONS, path, readOnly: true });
  onTestFinished(() => copy.close());
  return copy;
}

describe('a private copy of a ledger', () => {
  promiseTest('cli/unwritable', 'reads what the file and its write-ahead log say, then what was added', async () => {
    const path = join(newFolder(), 'ledger.db');
    const writer = await openWriter(path);
    const copy = await openCopy(path);
    const sizes = async () => [await copy.read(readSize), await writer.read(readSize)];
    expect(await sizes()).toEqual([1, 1]);
    await recordCalls(writer, 3);
    expect(await sizes()).toEqual([7, 7]);
    await writer.close();
    expect(existsSync(`${path}-wal`)).toBe(false);
    expect(await copy.read(readSize)).toBe(7);
    expect(await copy.schemaVersion()).toBeGreaterThan(0);
    expect(copy.location).toBe(path);
  });

  promiseTest('cli/unwritable', 'changes nothing in the folder of the ledger, and leaves no file behind', async () => {
    const folder = newFolder();
    const path = join(folder, 'ledger.db');
    await (await openWriter(path)).close();
    const before = statSync(path, { bigint: true });
    const copy = await openCopy(path);
    await copy.read(readSize);
    const own = readdirSync(folder).find((name) => name.startsWith('colibri-read-'));
    expect(statSync(join(folder, own ?? '')).mode & 0o777).toBe(0o700);
    await copy.close();
    await copy.close();
    expect(readdirSync(folder)).toEqual(['ledger.db']);
    expect(statSync(path, { bigint: true }).ctimeNs).toBe(before.ctimeNs);
  });

  promiseTest('cli/unwritable', 'sees which processes are alive, and refuses every write', async () => {
    const path = join(newFolder(), 'ledger.db');
    const writer = await openWriter(path);
    await writer.enlist(PROCESS);
    const copy = await openCopy(path);
    expect([await copy.isAlive(PROCESS), await copy.isAlive('../x')]).toEqual([true, false]);
    await writer.close();
    expect(await copy.isAlive(PROCESS)).toBe(false);
    const refusal = { fault: 'readonly', problem: `${path}: the file or its folder may not be written` };
    await expect(copy.write({ durable: true }, () => Promise.resolve())).rejects.toMatchObject(refusal);
    await expect(copy.enlist(PROCESS)).rejects.toMatchObject(refusal);
  });

  for (const [name, damage, fault] of [
    ['a file that is not a database', (path: string) => writeFileSync(path, 'x'.repeat(9000)), 'corrupt'],
    [
      'a ledger with a foreign journal',
      (path: string) => appendFileSync(`${path}-journal`, 'x'.repeat(9000)),
      'corrupt',
    ],
    ['a ledger that was deleted', (path: string) => rmSync(path), 'unavailable'],
  ] as const)
    promiseTest('cli/unwritable', `refuses ${name}, and names the ledger`, async () => {
      const folder = newFolder();
      const path = join(folder, 'ledger.db');
      await (await openWriter(path)).close();
      const copy = await openCopy(path);
      damage(path);
      const error = { fault, message: expect.stringContaining(dirname(path)) as string };
      const opening = () => openReadOnlyCopy({ ...OPTIONS, path, readOnly: true });
      if (fault === 'corrupt') await expect(opening()).rejects.toMatchObject(error);
      if (name !== 'a ledger with a foreign journal') await expect(copy.read(readSize)).rejects.toMatchObject(error);
      expect(((await opening().catch((thrown: Error) => thrown)) as Error).message).not.toContain('colibri-read-');
    });
});
