import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { connectRaw } from '../support/clients/raw-client.ts';
import { promiseTest } from '../support/promise-test.ts';
import { type Clone, clonesOfOneLedger } from './fixtures/hostile-project.ts';

const createClone = clonesOfOneLedger();

describe('a ledger that other users can read', () => {
  const [SHOWN, REFUSED] = [0, 2];
  const listCodes = (clone: Clone) => [['board'], ['show', '1'], ['verify']].map((args) => clone.run(args).code);
  const withKey = (clone: Clone) => ({ COLIBRI_KEY_PATH: join(clone.home, 'key') });
  const sign = (clone: Clone) => expect(clone.run(['checkpoint'], withKey(clone))).toMatchObject({ code: 0 });
  const close = (clone: Clone, file: number, folder: number) => {
    chmodSync(clone.path, file);
    chmodSync(clone.folder, folder);
  };

  promiseTest('clone/readable', 'its owner has closed it for writing', async () => {
    const clone = await createClone();
    sign(clone);
    close(clone, 0o444, 0o555);
    const before = clone.snapshot();
    expect(listCodes(clone)).toEqual([SHOWN, SHOWN, SHOWN]);
    const client = await connectRaw({ cwd: clone.root, env: { ...clone.env, COLIBRI_MODE: 'READONLY' } });
    expect(await client.data('server_health')).toMatchObject({ status: 'ok', mode: 'READONLY' });
    await client.end();
    expect(clone.snapshot()).toEqual(before);
    const [page, bundle] = [join(clone.outside, 'board.html'), join(clone.outside, 'all.colibri')];
    expect(clone.run(['board', '--html', page], withKey(clone))).toMatchObject({ code: 0, stderr: '' });
    expect(clone.run(['export', '--all', '--out', bundle], withKey(clone))).toMatchObject({ code: 0, stderr: '' });
    const proof = join(clone.outside, 'proof');
    expect(clone.run(['prove', '0', '--out', proof], withKey(clone))).toMatchObject({ code: 0, stderr: '' });
    const log = join(clone.outside, 'log');
    expect(clone.run(['publish', log], withKey(clone))).toMatchObject({ code: 0, stderr: '' });
    const key = clone.run(['key'], withKey(clone)).stdout.trim();
    expect(clone.run(['verify', bundle, '--key', key])).toMatchObject({ code: 0, stderr: '' });
    expect(clone.run(['add', 'Another']).code).toBe(REFUSED);
    expect(clone.snapshot()).toEqual(before);
    clone.track();
    expect(listCodes(clone)).toEqual([REFUSED, REFUSED, REFUSED]);
  });

  promiseTest('clone/readable', 'this user has signed it here, and no other ledger is in its place', async () => {
    const clone = await createClone();
    sign(clone);
    close(clone, 0o640, 0o750);
    expect(listCodes(clone)).toEqual([SHOWN, SHOWN, SHOWN]);
    expect(clone.run(['add', 'Another']).code).toBe(REFUSED);
    const other = join(clone.outside, 'other.db');
    expect(clone.run(['add', 'Of another ledger'], { COLIBRI_DB_PATH: other }).code).toBe(0);
    writeFileSync(clone.path, readFileSync(other));
    expect(listCodes(clone)).toEqual([REFUSED, REFUSED, REFUSED]);
  });
});
