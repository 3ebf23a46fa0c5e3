import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { connectRaw } from '../support/clients/raw-client.ts';
import { tamper } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { journalBetween, writeHotJournal } from '../verification/forge/sqlite-pages.ts';
import { type Clone, clonesOfOneLedger } from './fixtures/hostile-project.ts';

const createClone = clonesOfOneLedger();

const CASES: readonly (readonly [name: string, prepare: (clone: Clone) => Promise<void> | void])[] = [
  ['that came with a cloned ledger and would forge its tasks', trackForgery],
  ['that a pull put beside the own ledger and would cut it', trackCut],
  ['that no repository tracks', ({ path }) => writeJournal(path, writeHotJournal(new Map(), 1))],
];

describe('a rollback journal in a project', () => {
  for (const [name, prepare] of CASES)
    promiseTest(
      'store/journal',
      `${name} is reported by every command, and nothing is changed or accepted`,
      async () => {
        const clone = await createClone();
        const backup = join(clone.outside, 'backup.db');
        copyFileSync(clone.path, backup);
        await prepare(clone);
        const before = clone.snapshot();
        for (const args of [['board'], ['verify'], ['doctor'], ['backup'], ['restore', backup]]) {
          const { code, stdout, stderr } = clone.run(args);
          expect([args, code]).toEqual([args, args[0] === 'doctor' || args[0] === 'verify' ? 1 : 2]);
          expect(`${stdout}${stderr}`).toMatch(/colibri\.db-journal was not written by Colibri[\s\S]*move it/);
          expect(`${stdout}${stderr}`).not.toContain('is not writable');
        }
        expect(clone.run(['trust', '--yes']).stdout).not.toContain('accepted;');
        const client = await connectRaw({ cwd: clone.root, env: clone.env });
        expect(await client.data('server_health')).toMatchObject({
          status: 'degraded',
          problems: [{ message: expect.stringMatching(/-journal was not written by Colibri/) as string }],
        });
        await client.end();
        expect(clone.snapshot()).toEqual(before);
      },
    );

  promiseTest('clone/refused', 'trust names a journal that is tracked without its ledger', async () => {
    const clone = await createClone();
    writeFileSync(`${clone.path}-journal`, '', { mode: 0o600 });
    clone.track('.colibri/colibri.db-journal');
    const { reasons } = JSON.parse(clone.run(['trust', '--json']).stdout) as { reasons: string[] };
    expect(reasons).toEqual([`${clone.path}-journal is tracked by git`]);
  });

  promiseTest('store/journal', 'trust names the journal and does not accept the ledger', async () => {
    const clone = await createClone();
    await trackForgery(clone);
    const { code, stderr } = clone.run(['trust', '--yes']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/-journal was not written by/) as string,
    });
  });
});

async function trackForgery(clone: Clone): Promise<void> {
  clone.track('.colibri/colibri.db', '.colibri/colibri.db-journal');
  const forged = join(clone.outside, 'forged.db');
  copyFileSync(clone.path, forged);
  await tamper(forged, "UPDATE tasks SET title = 'forged'; PRAGMA journal_mode = DELETE");
  writeJournal(clone.path, journalBetween(clone.path, readFileSync(forged)));
}

function trackCut(clone: Clone): void {
  clone.track('.colibri/colibri.db-journal');
  writeJournal(clone.path, writeHotJournal(new Map(), 1));
}

function writeJournal(path: string, bytes: Buffer): void {
  writeFileSync(`${path}-journal`, bytes, { mode: 0o600 });
}
