import { copyFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Transaction } from '../../src/db/database.ts';
import { saltedDigest } from '../../src/integrity/index.ts';
import { append, appendEncoded, encode } from '../../src/ledger/append.ts';
import { verifyEverything } from '../../src/verification/verify-ledger.ts';
import { tempFolder } from '../support/folders.ts';
import { AT, openTestDatabase, openTestLedger, processIdOf, tamper } from '../support/ledger.ts';
import { countThreads, runColibri } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { sample } from '../support/properties.ts';

/** Enough entries for a thread of their own, where there is a second core. */
const CALLS = 26_000;
const PROCESS_ID = processIdOf('recorder');
const SALT = '00112233445566778899aabbccddeeff';

describe('colibri verify', () => {
  promiseTest('verify/command', 'a log that is long enough for a second thread, whole and tampered with', async () => {
    const folder = tempFolder();
    const path = join(folder, 'colibri.db');
    const database = await openTestLedger({ path });
    await database.write({ durable: false }, async (transaction) => {
      let last = 0;
      for (let call = 0; call < CALLS; call += 1) last = await leaveCall(transaction, `{"call":${call}}`);
      transaction.send('INSERT INTO presence (sequence_no, actor) VALUES ($1, $2)', [last, 'tester']);
    });
    const { size, root } = await database.read((reader) => verifyEverything(reader));
    await database.close();
    const threads = countThreads(folder);
    const verify = (file: string, env = {}) =>
      runColibri(['verify', '--json'], { COLIBRI_DB_PATH: file, ...env }, folder);

    const { status, stdout, stderr } = await verify(path, threads.env);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({ verdict: 'whole', size, root, checkpoint: `${size}:${root}`, problems: [] });
    expect(threads.hasStarted()).toBe(availableParallelism() > 1);

    for (const change of sample(
      [
        "UPDATE ledger_entries SET entry = replace(entry, 'tester', 'mallet') WHERE idx = 40000",
        "UPDATE ledger_nodes SET hash = replace(hash, substr(hash, 1, 1), 'g') WHERE level = 8 AND idx = 100",
        'DELETE FROM ledger_entries WHERE idx = 40001',
        `UPDATE ledger_nodes SET hash = 'x' WHERE level = 4 AND idx IN (0, 2000);
       UPDATE ledger_entries SET content = '{}' WHERE idx IN (20001, 40001)`,
        'UPDATE ledger_head SET tail = upper(tail)',
        "UPDATE ledger_entries SET content = '{}' WHERE idx = 40001",
      ],
      3,
    )) {
      const forged = join(folder, 'forged.db');
      copyFileSync(path, forged);
      await tamper(forged, change);
      const here = await openTestDatabase({ path: forged, readOnly: true });
      const { problems } = await here.read((reader) => verifyEverything(reader));
      await here.close();
      const there = await verify(forged);
      expect(there.status).toBe(1);
      expect(JSON.parse(there.stdout).problems).toEqual(problems);
    }
  });
});

async function leaveCall(db: Transaction, argumentsText: string): Promise<number> {
  const common = { v: 1, at: AT, actor: 'tester' } as const;
  const digest = saltedDigest('arguments', SALT, argumentsText);
  const tool = 'server_ping';
  const enter = { kind: 'action.enter', arguments: digest, process_id: PROCESS_ID, tool } as const;
  const kept = { salt: SALT, content: argumentsText };
  const sequenceNo = await appendEncoded(db, encode({ ...common, ...enter }), kept);
  const exit = { kind: 'action.exit', answer: digest, duration_ms: 1, outcome: 'ok', sequence_no: sequenceNo } as const;
  const exitIndex = await append(db, { ...common, ...exit });
  db.send('INSERT INTO call_exits (sequence_no, exit_idx) VALUES ($1, $2)', [sequenceNo, exitIndex]);
  return sequenceNo;
}
