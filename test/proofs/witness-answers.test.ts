import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { openSqlite } from '../../src/db/sqlite/database.ts';
import { askWitnesses } from '../../src/witnesses/ask.ts';
import { listWitnesses } from '../../src/witnesses/configured.ts';
import { withCosignatures } from '../../src/witnesses/cosignatures.ts';
import { promiseTest } from '../support/promise-test.ts';
import { createWitnessed, end, TestWitness } from './test-witness.ts';

describe('what a witness answers', () => {
  promiseTest('witness/refused', 'anything but a cosignature of this checkpoint by its key', async () => {
    const { project, witness } = await createWitnessed();
    const impostor = await TestWitness.start();
    type Misbehave = NonNullable<TestWitness['misbehave']>;
    const answer =
      (status: number, body = '', type?: string): Misbehave =>
      (response) => {
        end(response, status, body, type);
        return true;
      };
    const cosigning =
      (make: (body: string) => string): Misbehave =>
      (response, { body }) => {
        end(response, 200, make(body));
        return true;
      };
    const now = Math.floor(Date.now() / 1000);
    const cases: readonly (readonly [string, Misbehave, 'failed' | 'disagrees'])[] = [
      ['does not know this log', answer(404), 'failed'],
      ['does not know the key', answer(403), 'failed'],
      ['malformed', answer(400), 'failed'],
      ['HTTP status 500', answer(500, 'x'.repeat(1000)), 'failed'],
      ['does not accept', answer(422), 'disagrees'],
      ['without the size', answer(409), 'failed'],
      ['without the size', answer(409, '3\n'), 'failed'],
      ['decimal number', answer(409, '03\n', 'text/x.tlog.size'), 'failed'],
      ['decimal number', answer(409, `${'9'.repeat(40)}\n`, 'text/x.tlog.size'), 'failed'],
      ['entries were removed', answer(409, '9007199254740991\n', 'text/x.tlog.size'), 'disagrees'],
      ['at the same time', answer(409, '2\n', 'text/x.tlog.size'), 'failed'],
      ['not followed', (response) => Boolean(response.writeHead(307, { location: impostor.url }).end()), 'failed'],
      ['more than 65536 bytes', answer(200, '— w x\n'.repeat(100_000)), 'failed'],
      ['not a list of signatures', answer(200), 'failed'],
      ['not a list of signatures', answer(200, '<html>'), 'failed'],
      ['a dash, a name and a signature', answer(200, '<html>\n'), 'failed'],
      ['does not hold', cosigning((body) => witness.cosign(`${body}\n`)), 'failed'],
      ['does not hold', cosigning((body) => witness.cosign(body.replace('\n5\n', '\n4\n'))), 'failed'],
      ['states no time', cosigning((body) => witness.cosign(body, 0)), 'failed'],
      ['in the future', cosigning((body) => witness.cosign(body, now + 3600)), 'failed'],
      ['without a signature by', cosigning((body) => impostor.cosign(body)), 'failed'],
      ['not base64', cosigning((body) => witness.cosign(body).replace(/.==?\n$|.\n$/, 'B=\n')), 'failed'],
      ['cannot be reached', (response) => Boolean(response.destroy()), 'failed'],
    ];
    await project.checkpoint();
    const [checkpoint = ''] = project.remembered();
    const ledgerId = checkpoint.slice('colibri/'.length, checkpoint.indexOf('\n'));
    vi.stubEnv('XDG_CONFIG_HOME', project.config);
    onTestFinished(() => void vi.unstubAllEnvs());
    const database = await openSqlite({
      path: project.ledger,
      readOnly: true,
      durability: 'full',
      busyTimeoutMs: 1000,
    });
    onTestFinished(() => database.close());
    const named = listWitnesses(ledgerId);
    const askHere = (timeoutMs = 10_000) => askWitnesses(named, { database, ledgerId, checkpoint, timeoutMs });
    rmSync(join(project.config, 'colibri', 'cosigned'), { recursive: true, force: true });
    for (const [problem, misbehave, state] of cases) {
      witness.misbehave = misbehave;
      expect(await askHere(), problem).toMatchObject([{ state, problem: expect.stringContaining(problem) as string }]);
      expect(withCosignatures(ledgerId, checkpoint)).toBe(checkpoint);
    }
    witness.misbehave = () => true;
    expect(await askHere(100)).toMatchObject([{ state: 'failed', problem: 'did not answer within 0.1 s' }]);
    expect(impostor.requests).toEqual([]);
    // Signatures by unknown keys, also of other kinds, are ignored.
    const unknown = `— pq.example ${Buffer.alloc(2432, 1).toString('base64')}\n`;
    witness.misbehave = cosigning((body) => unknown + impostor.cosign(body) + witness.cosign(body));
    expect(await askHere()).toMatchObject([{ state: 'cosigned' }]);
    expect(withCosignatures(ledgerId, checkpoint).split('\n')).toHaveLength(7);
    witness.stop();
    expect(await askHere()).toMatchObject([
      { state: 'failed', problem: expect.stringContaining('cannot be reached') as string },
    ]);
  });

  promiseTest('witness/configured', 'only the user says who is asked, and by which key', async () => {
    const { project, witness, key } = await createWitnessed();
    const add = (url: string, ...args: string[]) => project.colibri('witness', 'add', url, ...args);
    for (const url of [
      'http://witness.example',
      'https://user:secret@witness.example',
      'https://witness.example?log=1',
      'file:///etc/passwd',
      'witness.example',
      'http://127.0.0.1.example.org',
      '',
    ])
      expect((await add(url, '--key', witness.vkey)).status, url).toBe(3);
    for (const wrong of [[], ['--key', key], ['--key', 'x'], ['--key', witness.vkey.replace('w1', 'w2')]])
      expect((await add('https://witness.example', ...wrong)).status).toBe(3);
    expect((await project.colibri('witness', 'remove', 'https://witness.example')).status).toBe(3);
    expect((await project.colibri('witness', 'remove')).status).toBe(3);
    const folder = join(project.config, 'colibri', 'witnesses');
    const [name = ''] = readdirSync(folder);
    const text = readFileSync(join(folder, name), 'utf8');
    for (const damaged of ['', '{}', '{"v":2,"witnesses":[]}', text.replace('http:', 'ftp:'), '[', 'null']) {
      writeFileSync(join(folder, name), damaged);
      expect(await project.colibri('witness'), damaged).toMatchObject({
        status: 3,
        stderr: expect.stringContaining(name) as string,
      });
    }
    writeFileSync(join(folder, name), text);
    const doctor = await project.colibri('doctor');
    expect(doctor.stdout).toContain(`${witness.name} at ${witness.url} has cosigned nothing yet`);
    expect(await project.colibri('witness', 'remove', `${witness.url}/`)).toMatchObject({ status: 0 });
    expect(await project.colibri('witness')).toMatchObject({
      status: 3,
      stderr: expect.stringContaining('no witnesses') as string,
    });
  });
});
