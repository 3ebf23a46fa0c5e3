import { expect } from 'vitest';
import { canonicalize } from '../../src/integrity/index.ts';
import { connectRaw } from '../support/clients/raw-client.ts';
import { tempFolder } from '../support/folders.ts';
import { ledgerIn, queryFile, verifyFile } from '../support/ledger.ts';
import { startProgram } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';

/** In an order in which an engine that confuses keys reads each of them as the one before. */
const METADATA = [
  { first: 0, '\\': 1 },
  { first: 1, '\n': 2 },
  { first: 2, '"': 3 },
  { first: 3, 'k\\u': 4 },
  { first: 4, kAb: 5 },
];

promiseTest('integrity/keys', 'metadata is recorded as the agent sent it, and verifies', async () => {
  const cwd = tempFolder();
  const client = await connectRaw({ cwd });
  await client.call('task_create', { title: 'one' });
  await client.call('audit_session_start', { task_id: 'T-0001', auditor_id: 'raw' });
  for (const [index, metadata] of METADATA.entries()) {
    // The last key is written with an escape that no JSON writer needs.
    const text = JSON.stringify(metadata).replace('kAb', String.raw`k\u0041b`);
    client.sendText(
      `{"jsonrpc":"2.0","id":"m${index}","method":"tools/call","params":{"name":"thought_record","arguments":{"task_id":"T-0001","type":"decision","content":"why","metadata":${text}}}}\n`,
    );
    const { result } = await client.answerTo(`m${index}`);
    expect(result).not.toHaveProperty('isError');
  }
  const check = await client.call('audit_verify_chain', { task_id: 'T-0001' });
  expect(check).toMatchObject({ data: { integrity_score: 100 } });
  await client.end();
  // Compared as text: the JSON.parse of the test process may itself confuse the keys.
  const expected = METADATA.map((metadata) => canonicalize({ metadata }));
  const rows = await queryFile<{ extras: string }>(ledgerIn(cwd), 'SELECT extras FROM thoughts ORDER BY thought_no');
  expect(rows.map(({ extras }) => extras)).toEqual(expected);
  const shown = await startProgram({ cwd, args: ['show', '1', '--json'] }).whenFound('stdout', ([line]) => line);
  for (const extras of expected) expect(shown).toContain(extras);
  expect((await verifyFile(ledgerIn(cwd))).problems).toEqual([]);
});
