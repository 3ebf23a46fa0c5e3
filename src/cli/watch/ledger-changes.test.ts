import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openLedgerChanges } from './ledger-changes.ts';

function createLedgerFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'colibri-changes-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'colibri.db');
  writeFileSync(path, '');
  return path;
}

function open(engine: 'sqlite' | 'postgres', location: string, signal = new AbortController().signal) {
  const changes = openLedgerChanges({ engine, location }, signal);
  onTestFinished(() => changes.close());
  return changes;
}

/** Runs the timers of `next` by hand; events of the file system arrive as usual. */
function stopTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Lets the events of earlier changes arrive, one may be reported twice. */
function settleEvents(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))));
}

async function hasResolved(promise: Promise<void>): Promise<boolean> {
  let resolved = false;
  void promise.then(() => (resolved = true));
  await vi.advanceTimersByTimeAsync(0);
  return resolved;
}

describe('openLedgerChanges', () => {
  for (const [what, before, change] of [
    ['appears', () => undefined, (wal: string) => appendFileSync(wal, 'frame')],
    ['grows', (wal: string) => writeFileSync(wal, 'frame'), (wal: string) => appendFileSync(wal, 'frame')],
    ['is deleted', (wal: string) => writeFileSync(wal, 'frame'), (wal: string) => rmSync(wal)],
  ] as const)
    it(`resolves when the WAL ${what}`, async () => {
      const path = createLedgerFile();
      before(`${path}-wal`);
      stopTimers();
      const next = open('sqlite', path).next();
      await vi.advanceTimersByTimeAsync(100);
      expect(await hasResolved(next)).toBe(false);
      change(`${path}-wal`);
      // The timers stand still, so only an event of the file system can resolve it.
      await next;
    });

  it('resolves a change before the call at once, and reads no more than ten times a second', async () => {
    const path = createLedgerFile();
    const changes = open('sqlite', path);
    stopTimers();
    appendFileSync(`${path}-wal`, 'frame');
    await settleEvents();
    const next = changes.next();
    await vi.advanceTimersByTimeAsync(99);
    expect(await hasResolved(next)).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await hasResolved(next)).toBe(true);
  });

  it('polls slowly without a change: every 2 s a file, every 500 ms a database server', async () => {
    const files = open('sqlite', createLedgerFile());
    const server = open('postgres', 'postgres://localhost/ledger');
    stopTimers();
    const [file, database] = [files.next(), server.next()];
    await vi.advanceTimersByTimeAsync(499);
    expect([await hasResolved(file), await hasResolved(database)]).toEqual([false, false]);
    await vi.advanceTimersByTimeAsync(1);
    expect([await hasResolved(file), await hasResolved(database)]).toEqual([false, true]);
    await vi.advanceTimersByTimeAsync(1500);
    expect(await hasResolved(file)).toBe(true);
  });

  it('ignores changes for a caller that waits for time to pass', async () => {
    const path = createLedgerFile();
    const changes = openLedgerChanges({ engine: 'sqlite', location: path }, new AbortController().signal, {
      isTimer: true,
    });
    onTestFinished(() => changes.close());
    stopTimers();
    const next = changes.next();
    appendFileSync(`${path}-wal`, 'frame');
    await settleEvents();
    await vi.advanceTimersByTimeAsync(1999);
    expect(await hasResolved(next)).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await hasResolved(next)).toBe(true);
  });

  it('polls where the folder cannot be watched', async () => {
    const changes = open('sqlite', join(tmpdir(), 'colibri-no-such-folder', 'colibri.db'));
    stopTimers();
    const next = changes.next();
    await vi.advanceTimersByTimeAsync(2000);
    expect(await hasResolved(next)).toBe(true);
  });

  it('resolves at once when the signal aborts, before and during the pause', async () => {
    const abort = new AbortController();
    const changes = open('sqlite', createLedgerFile(), abort.signal);
    stopTimers();
    const during = changes.next();
    await vi.advanceTimersByTimeAsync(50);
    abort.abort();
    expect(await hasResolved(during)).toBe(true);
    expect(await hasResolved(changes.next())).toBe(true);
  });
});
