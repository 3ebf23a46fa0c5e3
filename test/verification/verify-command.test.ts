import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { SCHEMA_VERSION } from '../../src/db/migrate.ts';
import { StoredTree } from '../../src/ledger/stored-tree.ts';
import { openTestDatabase } from '../support/ledger.ts';
import { runColibri } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { buildFullLedger, createFileOfVersion, TWO_LEVELS } from '../support/sample-ledgers.ts';
import { tamperFile } from '../support/tamper.ts';
import { openServer } from '../support/test-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'colibri-verify-'));
const original = join(folder, 'original.db');
await buildFullLedger(original, TWO_LEVELS);
const copy = join(folder, 'copy.db');

afterAll(() => rmSync(folder, { recursive: true }));

const verify = (path: string, ...args: string[]) => runColibri(['verify', ...args], { COLIBRI_DB_PATH: path }, folder);

describe('colibri verify', () => {
  promiseTest('verify/command', 'exits 0 for a valid ledger, as text', async () => {
    const { status, stdout, stderr } = await verify(original);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(
      /^whole: (\d+) entries, root ([0-9a-f]{64})\nredacted: the content of 3 entries, removed by people\n(?: {2}entry \d+ by person:ada at \S+ \(entry \d+\)\n){3}Note this elsewhere, to check later: --expect \1:\2\n$/,
    );
  });

  promiseTest('verify/command', 'exits 0 for a valid ledger, as JSON', async () => {
    const bytes = readFileSync(original);
    const { status, stdout } = await verify(original, '--json');
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      verdict: 'whole',
      size: expect.any(Number),
      root: expect.stringMatching(/^[0-9a-f]{64}$/),
      checkpoint: expect.stringMatching(/^[1-9]\d*:[0-9a-f]{64}$/),
      problems: [],
      redacted: Array.from({ length: 3 }, () => expect.objectContaining({ by: 'person:ada' })),
    });
    const { checkpoint } = JSON.parse(stdout) as { checkpoint: string };
    expect(await verify(original, '--expect', checkpoint)).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(original)).toEqual(bytes);
  });

  promiseTest('verify/checkpoint', 'accepts an earlier root and rejects one that never existed', async () => {
    const database = await openTestDatabase({ path: original, readOnly: true });
    const roots = await database.read((reader) =>
      Promise.all([1, 17, 256].map((size) => new StoredTree(reader, size).root())),
    );
    const checkpoints = [`1:${roots[0]}`, `17:${roots[1]}`, `256:${roots[2]?.toUpperCase()}`];
    const expectAll = checkpoints.flatMap((checkpoint) => ['--expect', checkpoint]);
    expect(await verify(original, ...expectAll)).toMatchObject({ status: 0, stderr: '' });
    const wrong = await verify(original, '--json', '--expect', `16:${roots[1]}`, '--expect', `90000:${roots[1]}`);
    expect(wrong.status).toBe(1);
    expect(JSON.parse(wrong.stdout)).toMatchObject({
      verdict: 'tampered',
      problems: [{ place: 'checkpoint 16', problem: 'has another root in this log' }, { place: 'checkpoint 90000' }],
    });
  });

  for (const bad of ['', 'x', '12', '12:', `0:${'a'.repeat(64)}`, `12:${'a'.repeat(63)}`, `1.5:${'a'.repeat(64)}`])
    promiseTest('verify/checkpoint', `rejects ${JSON.stringify(bad)} as bad input`, async () => {
      expect(await verify(original, '--expect', bad)).toMatchObject({ status: 3, stdout: '' });
    });

  const TAMPERED: Readonly<Record<string, readonly [sql: string, place: string]>> = {
    'a changed thought': ["UPDATE thoughts SET content = 'x' WHERE thought_no = 2", '\u0398-0002'],
    'a changed task': ["UPDATE tasks SET assignee = 'mallory' WHERE task_no = 2", 'T-0002'],
    'a lost entry': ['DELETE FROM ledger_entries WHERE idx = 40', 'entry 40'],
    'a cut log': ['DELETE FROM ledger_entries WHERE idx = (SELECT MAX(idx) FROM ledger_entries)', 'entry '],
    'a lost node': ['DELETE FROM ledger_nodes WHERE level = 8', 'node 8/0'],
    'a lost head': ['DELETE FROM ledger_head', 'ledger_head'],
    'another root': ["UPDATE sessions SET root = 'x' WHERE session_no = 1", 'A-0001'],
    'a foreign call': ["UPDATE ledger_entries SET content = '{}' WHERE idx = 1", 'call 1'],
    'a lost search index': ['DELETE FROM task_search_data', 'task_search'],
    'a lost table': ['DROP TABLE call_exits', 'call_exits'],
    'a lost column': ['ALTER TABLE thoughts DROP COLUMN attempt', 'thoughts'],
    'a lost head table': ['DROP TABLE ledger_head', 'ledger_head'],
    'a trigger': ['CREATE TRIGGER forget AFTER INSERT ON call_exits BEGIN DELETE FROM call_exits; END', 'forget'],
  };
  for (const [defect, [sql, place]] of Object.entries(TAMPERED))
    promiseTest('verify/command', `exits 1 and names ${defect}`, async () => {
      copyFileSync(original, copy);
      await tamperFile(copy, sql);
      const [json, text] = await Promise.all([verify(copy, '--json'), verify(copy)]);
      expect([json.status, text.status]).toEqual([1, 1]);
      const report = JSON.parse(json.stdout) as { verdict: string; problems: { place: string }[] };
      expect(report.verdict).toBe('tampered');
      expect(report.problems.some((problem) => problem.place.startsWith(place))).toBe(true);
      expect(text.stdout).toMatch(/^TAMPERED: \d+ problems? in \d+ entries, the first at .+/);
      expect(text.stdout).toContain(`  ${place}`);
      expect(text.stdout).toMatch(
        /\nWhat to do: do not repair it by hand; .+ restore the newest backup that verifies .+\n$/,
      );
    });

  promiseTest('verify/command', 'counts many problems and shows the first of them', async () => {
    copyFileSync(original, copy);
    await tamperFile(copy, "UPDATE thoughts SET content = content || '!'");
    const { status, stdout } = await verify(copy);
    expect(status).toBe(1);
    expect(stdout).toMatch(/\n {2}and \d+ more\n/);
  });

  const UNKNOWN: Readonly<Record<string, readonly [prepare: () => Promise<void> | void, message: RegExp]>> = {
    'no ledger': [() => rmSync(copy, { force: true }), /no ledger at /],
    'an empty file': [() => writeFileSync(copy, ''), /is empty/],
    'a file that is not a database': [() => writeFileSync(copy, 'not a database '.repeat(400)), /damaged|not a ledger/],
    'half a file': [() => truncateSync(copied(), 8192), /damaged/],
    'a database of another program': [
      async () => tamperFile(copy, 'CREATE TABLE cookies (name TEXT)'),
      /another program/,
    ],
    'a newer schema': [
      async () => tamperFile(copied(), 'PRAGMA user_version = 99; CREATE TABLE later (x INTEGER)'),
      /newer Colibri/,
    ],
    'an older schema': [
      () => createFileOfVersion(copy, 4),
      /has schema 4, this version needs \d+; start a server in FULL mode/,
    ],
    'a copy that is not finished': [() => createFileOfVersion(copy, SCHEMA_VERSION, -SCHEMA_VERSION), /not finished/],
    'a folder in its place': [() => mkdirSync(copy), /cannot be opened|damaged/],
  };
  for (const [defect, [prepare, message]] of Object.entries(UNKNOWN))
    promiseTest('verify/command', `exits 2 with advice for ${defect}`, async () => {
      rmSync(copy, { force: true, recursive: true });
      await prepare();
      const [text, json] = await Promise.all([verify(copy), verify(copy, '--json')]);
      rmSync(copy, { force: true, recursive: true });
      expect([text.status, text.stdout, json.status]).toEqual([2, '', 2]);
      expect(text.stderr).toMatch(message);
      expect(JSON.parse(json.stdout)).toEqual({ verdict: 'cannot tell', message: expect.stringMatching(message) });
    });

  promiseTest('verify/command', 'exits 2 for an empty folder', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'colibri-empty-'));
    // Named, because a folder above the one for temporary files may have a ledger.
    const { status, stderr } = await runColibri(['verify'], { COLIBRI_DB_PATH: '.colibri/colibri.db' }, empty);
    rmSync(empty, { recursive: true });
    expect(status).toBe(2);
    expect(stderr).toMatch(/no ledger at /);
  });

  promiseTest('verify/command', 'exits 3 for a wrong configuration and names the variable', async () => {
    for (const env of [{ COLIBRI_MODE: 'LOUD' }, { AMS_MODE: 'FULL' }] as Record<string, string>[]) {
      const [name] = Object.keys(env) as [string];
      const text = await runColibri(['verify'], { COLIBRI_DB_PATH: original, ...env }, folder);
      const json = await runColibri(['verify', '--json'], { COLIBRI_DB_PATH: original, ...env }, folder);
      expect([text.status, json.status]).toEqual([3, 3]);
      expect(text.stderr).toContain(name);
      expect(JSON.parse(json.stdout)).toEqual({ verdict: 'bad input', message: expect.stringContaining(name) });
    }
  });

  promiseTest('verify/command', 'while a server writes to the same file', async () => {
    copyFileSync(original, copy);
    const server = await openServer(copy);
    try {
      const stop = new AbortController();
      const writing = (async () => {
        for (let number = 0; !stop.signal.aborted; number += 1) {
          await server.recordThought({ task_id: 'T-0001', type: 'reflection', content: `while verifying ${number}` });
          // Server and client share this process and could run forever without yielding to anything else.
          await new Promise((resolve) => setImmediate(resolve));
        }
      })();
      const sizes: number[] = [];
      for (let run = 0; run < 3; run += 1) {
        const { status, stdout } = await verify(copy, '--json');
        expect(status).toBe(0);
        sizes.push((JSON.parse(stdout) as { size: number }).size);
      }
      stop.abort();
      await writing;
      expect(sizes[2]).toBeGreaterThan(sizes[0] ?? 0);
    } finally {
      await server.close();
    }
  });
});

function copied(): string {
  copyFileSync(original, copy);
  return copy;
}
