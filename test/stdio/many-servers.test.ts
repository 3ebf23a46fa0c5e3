import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect } from 'vitest';
import { connectRaw } from '../support/clients/raw-client.ts';
import { tempFolder } from '../support/folders.ts';
import { countKind, ledgerIn, listCalls, queryFile, verifyFile } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';

const SERVERS = 4;
const CALLS = 120;

describe('several servers on one file', () => {
  promiseTest('process/one-log', `${SERVERS} servers with ${CALLS} concurrent calls each`, async () => {
    const cwd = tempFolder();
    const clients = await Promise.all(
      Array.from({ length: SERVERS }, (_, n) => connectRaw({ cwd, env: { COLIBRI_AGENT_ID: `agent-${n}` } })),
    );
    const answers = await Promise.all(
      clients.flatMap((client) => Array.from({ length: CALLS }, () => client.data('server_ping'))),
    );
    expect(answers).toHaveLength(SERVERS * CALLS);
    const exits = await Promise.all(clients.map((client) => client.end()));
    expect(exits).toEqual(clients.map(() => ({ code: 0, signal: null })));

    const path = ledgerIn(cwd);
    expect((await verifyFile(path)).size).toBe(1 + 2 * SERVERS * CALLS);
    const calls = await listCalls(path);
    expect(calls.every(({ outcome }) => outcome === 'ok')).toBe(true);
    const perServer = await queryFile<{ n: number }>(
      path,
      'SELECT COUNT(*) AS n FROM calls GROUP BY actor, process_id ORDER BY actor',
    );
    expect(perServer).toEqual(clients.map(() => ({ n: CALLS })));
    const [span] = await queryFile<{ first: number; last: number; n: number }>(
      path,
      'SELECT MIN(idx) AS first, MAX(idx) AS last, COUNT(*) AS n FROM ledger_entries',
    );
    expect(span).toEqual({ first: 0, last: 2 * SERVERS * CALLS, n: 1 + 2 * SERVERS * CALLS });
  });

  for (const copies of [2, 8]) {
    promiseTest('process/one-genesis', `${copies} servers on a file that does not exist`, async () => {
      const cwd = tempFolder();
      const clients = await Promise.all(Array.from({ length: copies }, () => connectRaw({ cwd })));
      const healths = await Promise.all(clients.map((client) => client.data('server_health')));
      expect(healths.map(({ status, problems }) => [status, problems])).toEqual(clients.map(() => ['ok', []]));
      await Promise.all(clients.map((client) => client.end()));
      expect(await countKind(ledgerIn(cwd), 'genesis')).toBe(1);
      expect((await verifyFile(ledgerIn(cwd))).size).toBe(1 + 2 * copies);
      expect(await listCalls(ledgerIn(cwd))).toHaveLength(copies);
    });
  }

  promiseTest('process/one-log', 'servers that start, stop and are killed', async () => {
    const cwd = tempFolder();
    const lasting = await connectRaw({ cwd });
    for (let round = 0; round < 3; round += 1) {
      const [killed, leaving] = await Promise.all([connectRaw({ cwd }), connectRaw({ cwd })]);
      await Promise.all([killed, leaving, lasting].map((client) => client.data('server_health')));
      killed.program.child.kill('SIGKILL');
      await Promise.all([killed.program.exit, leaving.end(), lasting.data('server_ping')]);
    }
    await (await connectRaw({ cwd })).data('server_health');
    expect(await lasting.data('server_health')).toMatchObject({ status: 'ok' });
    const traces = readdirSync(dirname(ledgerIn(cwd))).filter((file) => file.endsWith('.live'));
    // The lasting server and the newest one; the traces of the killed ones are swept.
    expect(traces).toHaveLength(2);
    await verifyFile(ledgerIn(cwd));
  });
});
