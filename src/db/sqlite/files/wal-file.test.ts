import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { tempFolder } from '../../../../test/support/folders.ts';
import { promiseTest } from '../../../../test/support/promise-test.ts';
import { WalFile } from './wal-file.ts';

describe('flushing', () => {
  promiseTest('store/slow-disk', 'a flush runs on this thread only if the last one was fast', async () => {
    const { flushIn, threads } = openWal();
    for (const ms of [0.1, 0.1, 20, 0.1, 0.1]) await flushIn(ms);
    expect(threads).toEqual(['another', 'this', 'this', 'another', 'this']);
  });

  promiseTest('store/slow-disk', 'a flush after a failed one runs on another thread', async () => {
    const { flushIn, threads, failNext } = openWal();
    await flushIn(0.1);
    failNext();
    await expect(flushIn(0.1)).rejects.toMatchObject({ fault: 'unsynced' });
    await flushIn(0.1);
    expect(threads).toEqual(['another', 'this', 'another']);
  });

  promiseTest('store/slow-disk', 'another thread writes what a checkpoint will flush', async () => {
    const { wal, flushIn, threads, failNext } = openWal();
    await flushIn(0.1);
    await wal.writeAhead();
    failNext();
    await wal.writeAhead();
    expect(threads).toEqual(['another', 'another', 'another']);
  });

  promiseTest('store/unsynced', 'an error that comes before a checkpoint still fails the next flush', async () => {
    const { wal, flushIn, failNext } = openWal();
    await flushIn(0.1);
    failNext();
    await wal.writeAhead();
    await expect(flushIn(0.1)).rejects.toMatchObject({ fault: 'unsynced' });
    await flushIn(0.1);
  });
});

/** A log on a disk that takes as long as the test says, by a clock that only the disk moves. */
function openWal() {
  const path = join(tempFolder(), 'wal');
  fs.writeFileSync(path, '');
  const threads: string[] = [];
  let [nowMs, tookMs, failures] = [0, 0, 0];
  // The system reports an error of the disk once to each descriptor.
  const reported = new Map<number, number>();
  const flush = (thread: string, file: number) => {
    threads.push(thread);
    nowMs += tookMs;
    if ((reported.get(file) ?? 0) === failures) return;
    reported.set(file, failures);
    throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
  };
  const spies = [
    vi.spyOn(fs, 'fdatasyncSync').mockImplementation((file) => flush('this', file)),
    vi.spyOn(fs, 'fdatasync').mockImplementation((file, done) => {
      try {
        flush('another', file);
        done(null);
      } catch (error) {
        done(error as NodeJS.ErrnoException);
      }
    }),
  ];
  const wal = new WalFile(
    path,
    () => true,
    () => nowMs,
  );
  wal.open();
  onTestFinished(() => {
    wal.close();
    for (const spy of spies) spy.mockRestore();
  });
  const flushIn = async (ms: number) => {
    tookMs = ms;
    await wal.flush();
  };
  const failNext = () => {
    failures += 1;
  };
  return { wal, flushIn, threads, failNext };
}
