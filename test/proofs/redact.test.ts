import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { parseEntry } from '../../src/integrity/index.ts';
import { queryFile } from '../support/ledger.ts';
import { observe } from '../support/ledger-targets.ts';
import { call } from '../support/memory-server.ts';
import { promiseTest } from '../support/promise-test.ts';
import { tamperFile } from '../support/tamper.ts';
import { SigningProject } from './support.ts';

const TASK = 'The customer is Xanadu42';
const WORD = 'xanadu42';
const THOUGHT = 'the password is Hunter2hunter2';
const REASON = 'a review for Xanadu42';
const NOTE = /\[redacted by person:ada on \d{4}-\d\d-\d\d\]/;

/** One ledger with secrets everywhere, a server that keeps working on it, and what was there before. */
let project: SigningProject;
let original: SigningProject;
let key: string;

const redact = (record: string, ...args: readonly string[]) =>
  project.colibri('redact', record, '--reason', 'leaked', '--as', 'ada', '--yes', ...args);
const query = <Shape>(sql: string) => queryFile<Shape>(project.ledger, sql);
const findEntry = async (rows: string) => String((await query<{ idx: number }>(`SELECT idx FROM ${rows}`))[0]?.idx);

/** Every byte beside the ledger, in lower case: the search index has no capital letters. */
function bytesOf(ledger: string): string {
  return ['', '-wal', '-shm']
    .filter((suffix) => statSync(ledger + suffix, { throwIfNoEntry: false }) !== undefined)
    .map((suffix) => readFileSync(ledger + suffix, 'latin1').toLowerCase())
    .join('');
}

beforeAll(async () => {
  project = new SigningProject({ isShared: true });
  await project.withAgent(async (agent) => {
    await call(agent, 'task_create', { title: TASK, description: `about ${WORD}`, labels: [WORD], status: 'todo' });
    for (let task = 2; task <= 9; task += 1) await call(agent, 'task_create', { title: `task ${task}` });
    await call(agent, 'task_update', { task_id: 'T-0001', title: `${TASK}!`, status: 'in_progress' });
    await call(agent, 'audit_session_start', { task_id: 'T-0001', auditor_id: WORD, reason: REASON });
    for (const content of [THOUGHT, 'something else'])
      await call(agent, 'thought_record', { task_id: 'T-0001', type: 'decision', content, branch: WORD });
  });
  await observe(project.ledger);
  await project.colibri('project', '--review', 'person', '--as', 'ada');
  key = (await project.colibri('key')).stdout.trim();
  original = new SigningProject({ like: project, isShared: true });
}, 60_000);

afterAll(() => {
  project.remove();
  original.remove();
});

describe('colibri redact', () => {
  promiseTest('redact/refused', 'without a terminal and without --yes', async () => {
    const { status, stderr } = await project.colibri('redact', 'T-0001', '--reason', 'leaked');
    expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining('--yes') });
    expect((await project.colibri('redact', 'T-0001', '--yes')).status).toBe(3);
    expect((await project.colibri('redact', 'T-0001', '--reason', ' ', '--yes')).status).toBe(3);
  });

  const REFUSED: Readonly<Record<string, readonly [record: string, status: number, says: RegExp]>> = {
    'an id that is none': ['X-1', 3, /neither the index of an entry nor an id/],
    'a task that does not exist': ['T-0099', 3, /no task T-0099/],
    'the first entry': ['0', 1, /no content to redact/],
    'an exit': ['3', 1, /action\.exit.*no content to redact/],
  };
  for (const [name, [record, status, says]] of Object.entries(REFUSED))
    promiseTest('redact/refused', name, async () => {
      expect(await redact(record)).toMatchObject({ status, stderr: expect.stringMatching(says) });
    });

  promiseTest('redact/refused', 'the options of a project', async () => {
    const run = await redact(await findEntry('project_options'));
    expect(run).toMatchObject({ status: 1, stderr: expect.stringMatching(/rules/) });
  });

  promiseTest('redact/refused', 'in a mode that changes nothing', async () => {
    const env = { ...project.env, COLIBRI_MODE: 'READONLY' };
    const run = await project.runWith({ env }, 'redact', 'T-0001', '--reason', 'leaked', '--yes');
    expect(run).toMatchObject({ status: 1, stderr: expect.stringContaining('READONLY') });
  });

  promiseTest('redact/refused', 'content that is not what was recorded, which a redaction would hide', async () => {
    const forged = new SigningProject({ like: original });
    await tamperFile(forged.ledger, "UPDATE thoughts SET content = 'another text'");
    const run = await forged.colibri('redact', 'th-1', '--reason', 'leaked', '--yes');
    expect(run).toMatchObject({ status: 1, stderr: expect.stringContaining('run colibri verify') });
    expect(await queryFile(forged.ledger, 'SELECT * FROM redactions')).toEqual([]);
  });

  promiseTest('redact/gone', 'from every table, the file and its log, while a server works', async () => {
    for (const secret of [WORD, 'hunter2hunter2', 'npm test']) expect(bytesOf(project.ledger)).toContain(secret);
    const agent = await project.openAgent('alice', project.env);
    await call(agent, 'task_list');
    const observed = await findEntry("observations WHERE content LIKE '%npm test%'");
    for (const record of ['T-0001', 'th-1', 'A-1', observed]) {
      const { status, stdout, stderr } = await redact(record);
      expect({ status, stderr }, record).toEqual({ status: 0, stderr: '' });
      expect(stdout).toMatch(/is redacted \(entry \d+\)/);
    }
    // The second thought has the word in its branch; the command has named it.
    expect(bytesOf(project.ledger)).toContain(WORD);
    const { stdout } = await redact('T-0001', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ verdict: 'done', redacted: [] });
    expect((await redact('\u0398-0002')).status).toBe(0);
    for (const secret of [WORD, 'hunter2hunter2', 'npm test', 'something else'])
      expect(bytesOf(project.ledger), secret).not.toContain(secret);
    const moved = await call(agent, 'task_update', { task_id: 'T-0001', progress: 50 });
    expect(moved.isError).toBe(false);
    await agent.close();
    expect((await project.colibri('verify')).status).toBe(0);
  });

  promiseTest('redact/gone', 'the auditor of a session is gone from the call that named it, too', async () => {
    const other = new SigningProject();
    const agent = await other.openAgent('alice', other.env);
    await call(agent, 'task_create', { title: 'one' });
    await call(agent, 'audit_session_start', { task_id: 'T-0001', auditor_id: 'Jane Roe' });
    await agent.close();
    expect(await other.colibri('redact', 'A-0001', '--reason', 'names a person', '--yes')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^entry \d+ is redacted.*\nentry \d+ is redacted/) as string,
    });
    expect(readFileSync(other.ledger, 'latin1')).not.toContain('Jane Roe');
    expect(await other.colibri('verify')).toMatchObject({ status: 0 });
  });

  promiseTest('redact/recorded', 'with the person, the entry and the reason', async () => {
    const rows = await query<{ idx: number; redacts: number; content: string; entry: string }>(
      'SELECT redactions.*, entry FROM redactions JOIN ledger_entries USING (idx)',
    );
    expect(rows.length).toBeGreaterThan(8);
    for (const { redacts, content, entry } of rows) {
      expect(parseEntry(entry)).toMatchObject({ kind: 'redaction', actor: 'person:ada', redacts });
      expect(content).toBe('{"reason":"leaked"}');
    }
    const { stdout } = await project.colibri('verify', '--json');
    const report = JSON.parse(stdout) as { verdict: string; redacted: { entry: number; redaction: number }[] };
    expect(report.verdict).toBe('whole');
    expect(report.redacted.map(({ entry }) => entry)).toEqual(rows.map(({ redacts }) => redacts));
  });

  promiseTest('redact/shown', 'in every view, with who and when', async () => {
    for (const args of [['board'], ['timeline', '1'], ['log'], ['search', 'redacted']]) {
      const { status, stdout } = await project.colibri(...args);
      expect({ args, status, stdout }).toMatchObject({ status: 0, stdout: expect.stringMatching(NOTE) });
    }
    expect((await project.colibri('show', '1')).stdout).toMatch(
      /verifies: .* except the text of \d, which was redacted/s,
    );
    expect((await project.colibri('search', WORD)).stdout).not.toContain('T-0001');
    await project.colibri('export', '--markdown', project.path('vault'));
    expect(readFileSync(project.path('vault/tasks/T-0001.md'), 'utf8')).toMatch(/redacted by person:ada/);
    const agent = await project.openAgent('bob', project.env);
    for (const tool of ['task_get', 'thought_record_list'])
      expect((await call(agent, tool, { task_id: 'T-0001' })).text).toMatch(NOTE);
    const { data } = await call(agent, 'audit_verify_chain', { task_id: 'T-0001' });
    expect(data).toMatchObject({ chain_valid: true, redacted_records: 2 });
    await agent.close();
  });
});

interface Claim {
  readonly about: string;
  readonly holds: string;
  readonly says: string;
}

async function judge(file: string): Promise<{ status: number | null; claims: readonly Claim[] }> {
  const { status, stdout } = await project.colibri('verify', file, '--key', key, '--json');
  return { status, claims: (JSON.parse(stdout) as { claims?: readonly Claim[] }).claims ?? [] };
}

describe('a bundle of redacted entries', () => {
  for (const scope of [['--session', 'A-0001'], ['--all']])
    promiseTest('redact/shown', `of ${scope.join(' ')} says so as a claim of its own`, async () => {
      const file = project.path(`${scope.join('')}.colibri`);
      expect((await project.colibri('export', ...scope, '--out', file)).status).toBe(0);
      const { status, claims } = await judge(file);
      expect(status).toBe(0);
      const claim = claims.find(({ about }) => about === 'redaction');
      expect(claim).toMatchObject({
        holds: 'yes',
        says: expect.stringMatching(/redacted: entry \d+ by person:ada at/),
      });
      expect(claims.find(({ about }) => about === 'content')?.says).not.toMatch(/not disclosed/);
    });

  promiseTest('redact/shown', 'a proof of one entry discloses none of it', async () => {
    const [version] = await query<{ idx: number }>('SELECT MIN(redacts) AS idx FROM redactions');
    const file = project.path('one.proof');
    const { stdout } = await project.colibri('prove', String(version?.idx), '--out', file);
    expect(stdout).toMatch(/Its content was redacted by entry \d+; prove that entry/);
    const { status, claims } = await judge(file);
    expect(status).toBe(0);
    expect(claims.find(({ about }) => about === 'content')?.says).toContain(
      'no content is here: that of 1 entry is not disclosed',
    );
  });

  promiseTest('redact/forged', 'with content that an earlier bundle disclosed fails', async () => {
    const [before, after] = [original.path('before.colibri'), project.path('after.colibri')];
    await original.colibri('export', '--all', '--out', before);
    await project.colibri('export', '--all', '--out', after);
    const old = readFileSync(before, 'utf8').split('\n');
    const now = readFileSync(after, 'utf8').split('\n');
    let tried = 0;
    for (const [line, text] of now.entries()) {
      const earlier = old[line] ?? '';
      // The entry itself is the same; only what it discloses has changed.
      if (line === 0 || line >= old.length - 1 || earlier === text || !earlier.includes('"disclosed"')) continue;
      tried += 1;
      if (tried % 3 !== 0) continue;
      writeFileSync(project.path('forged.colibri'), now.with(line, earlier).join('\n'));
      const { status, claims } = await judge(project.path('forged.colibri'));
      expect(status, `entry ${line - 1}`).toBe(1);
      expect(claims.find(({ about }) => about === 'content')?.says).toMatch(/was redacted by entry/);
    }
    expect(tried).toBeGreaterThan(5);
  });
});

describe('copies of a redacted ledger', () => {
  promiseTest('redact/copied', 'lose the content with the next copy, and backups never have it', async () => {
    const copy = original.path('copy.db');
    await original.colibri('copy', '--to', copy);
    expect(bytesOf(copy)).toContain(WORD);
    const again = await project.colibri('copy', '--to', copy);
    expect(again).toMatchObject({ status: 0, stderr: '' });
    for (const secret of [WORD, 'hunter2hunter2']) expect(bytesOf(copy), secret).not.toContain(secret);
    const backup = project.path('backup.db');
    expect((await project.colibri('backup', backup)).status).toBe(0);
    expect(bytesOf(backup)).not.toContain(WORD);
    expect((await project.colibri('restore', backup)).status).toBe(0);
    expect(await project.colibri('verify')).toMatchObject({ status: 0, stdout: expect.stringContaining('redacted:') });
  });
});
