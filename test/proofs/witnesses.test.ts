import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { call } from '../support/memory-server.ts';
import { promiseTest } from '../support/promise-test.ts';
import { type SigningProject, seal } from './support.ts';
import { createWitnessed, end, TestWitness } from './test-witness.ts';

const ask = (project: SigningProject) => project.colibri('witness');

interface Judged {
  readonly verdict: string;
  readonly claims?: readonly { readonly about: string; readonly holds: string; readonly says: string }[];
}

async function judge(project: SigningProject, file: string, ...args: string[]) {
  const { status, stdout } = await project.colibri('verify', file, '--json', ...args);
  const { claims = [] } = JSON.parse(stdout) as Judged;
  return { status, claims: claims.filter(({ about }) => ['witnesses', 'time'].includes(about)) };
}

describe('a witness', () => {
  promiseTest('witness/cosigns', 'at every size of the log, and again after the user has lost the state', async () => {
    const { project, witness, key } = await createWitnessed();
    for (const title of ['two', 'three']) {
      expect(await ask(project)).toMatchObject({ status: 0, stderr: '' });
      await project.colibri('add', title);
    }
    expect(await ask(project)).toMatchObject({ status: 0 });
    // Each proof leads from the size before.
    expect(witness.requests.map(({ oldSize }) => oldSize)).toEqual([0, 5, 8]);
    rmSync(join(project.config, 'colibri', 'cosigned'), { recursive: true });
    await project.colibri('add', 'four');
    expect(await ask(project)).toMatchObject({ status: 0 });
    expect(witness.requests.map(({ oldSize }) => oldSize).slice(3)).toEqual([0, 11]);
    expect(await ask(project)).toMatchObject({ status: 0, stdout: expect.stringContaining('cosigned 14') as string });
    expect(witness.sizeOf(key)).toBe(14);
    expect(await project.colibri('witness', 'list')).toMatchObject({
      stdout: expect.stringContaining('cosigned 14 entries at') as string,
    });
  });

  promiseTest('witness/verified', 'a bundle, a proof and published tiles carry cosignatures', async () => {
    const { project, witness, key } = await createWitnessed();
    const other = await TestWitness.start('other.example');
    const bundle = project.path('bundle');
    await project.colibri('export', '--all', '--out', bundle);
    const proof = project.path('proof');
    await project.colibri('prove', '2', '--out', proof);
    await project.colibri('publish', project.path('public'));
    const printed = await project.checkpoint();
    expect(readFileSync(project.path('public/checkpoint'), 'utf8')).toContain(`\n— ${witness.name} `);
    expect(printed).toContain(`\n— ${witness.name} `);
    for (const file of [bundle, proof]) {
      const named = await judge(project, file, '--key', key, '--witness', witness.vkey);
      expect(named).toMatchObject({ status: 0, claims: [{ holds: 'yes' }] });
      expect(named.claims[0]?.says).toMatch(/^cosigned by witness\.example\/w1 at 20\d\d-/);
      expect(await judge(project, file, '--key', key)).toMatchObject({ status: 0, claims: [{ holds: 'unknown' }] });
      const both = ['--key', key, '--witness', witness.vkey, '--witness', other.vkey];
      const fewer = await judge(project, file, ...both);
      expect(fewer).toMatchObject({ status: 1, claims: [{ holds: 'no' }] });
      expect(fewer.claims[0]?.says).toContain('other.example did not');
      expect(await judge(project, file, ...both, '--quorum', '1')).toMatchObject({ status: 0 });
      const twice = ['--key', key, '--witness', witness.vkey, '--witness', witness.vkey];
      expect(await judge(project, file, ...twice)).toMatchObject({ status: 0, claims: [{ holds: 'yes' }] });
      expect(await judge(project, file, ...twice, '--quorum', '2')).toMatchObject({ status: 3 });
    }
    for (const args of [
      ['--key', key, '--witness', key],
      ['--key', key, '--witness', witness.vkey, '--quorum', '2'],
      ['--key', key, '--witness', witness.vkey, '--quorum', '0'],
      ['--key', witness.vkey],
      ['--key', key, '--max-age', 'long'],
      ['--key', key, '--max-age', '1h'],
    ])
      expect((await project.colibri('verify', bundle, ...args)).status, args.join(' ')).toBe(3);
  });

  promiseTest('witness/verified', 'a stale cosignature, one from the future, and one that was forged', async () => {
    const { project, witness, key } = await createWitnessed();
    const bundle = async (name: string) => {
      await project.colibri('add', name);
      await project.colibri('export', '--all', '--out', project.path(name));
      return project.path(name);
    };
    const trust = ['--key', key, '--witness', witness.vkey];
    witness.now = () => Math.floor(Date.now() / 1000) - 8 * 86_400;
    const stale = await bundle('stale');
    const seen = await judge(project, stale, ...trust);
    // The entries are younger than the statement about them.
    expect(seen).toMatchObject({ status: 0, claims: [{ holds: 'yes' }, { holds: 'unknown' }] });
    expect(seen.claims[1]?.says).toContain('a clock was wrong');
    expect(await judge(project, stale, ...trust, '--max-age', '7d')).toMatchObject({ status: 1 });
    witness.now = () => Math.floor(Date.now() / 1000);
    const good = await bundle('good');
    expect(await judge(project, good, ...trust, '--max-age', '7d')).toMatchObject({ status: 0 });
    const forged = project.path('forged');
    const text = readFileSync(good, 'utf8');
    const line = new RegExp(`— ${witness.name} [^\\\\]+`).exec(text)?.[0] ?? '';
    const bytes = Buffer.from(line.split(' ')[2] ?? '', 'base64');
    // An hour later, or in the future: the witness has signed neither.
    for (const [place, xor] of [
      [10, 1],
      [6, 1],
      [40, 1],
      [0, 1],
    ] as const) {
      const changed = Buffer.from(bytes);
      changed[place] = (changed[place] ?? 0) ^ xor;
      writeFileSync(forged, text.replace(line, `— ${witness.name} ${changed.toString('base64')}`));
      // Another key id is a signature by an unknown key, which is ignored.
      expect((await judge(project, forged, ...trust)).status, `${place}`).toBe(place === 0 ? 1 : 3);
    }
  });

  promiseTest('witness/disagrees', 'a rolled back log that the user does not remember', async () => {
    const { project } = await createWitnessed();
    const saved = project.save();
    await project.colibri('add', 'two');
    await ask(project);
    project.rollBackTo(saved);
    // An attacker may also remove the memory of the user, but not that of a witness.
    rmSync(join(project.config, 'colibri', 'checkpoints'), { recursive: true });
    rmSync(join(project.config, 'colibri', 'cosigned'), { recursive: true });
    expect(await project.colibri('verify')).toMatchObject({ status: 0 });
    const cut = await ask(project);
    expect(cut).toMatchObject({ status: 1, stdout: expect.stringContaining('entries were removed') as string });
    for (const title of ['other', 'history', 'that is longer']) await project.colibri('add', title);
    const forked = await ask(project);
    expect(forked).toMatchObject({ status: 1, stdout: expect.stringContaining('does not accept') as string });
  });

  for (const namesSize of [false, true])
    promiseTest(
      'witness/disagrees',
      `cosigns one of two histories of a size, and answers the other ${namesSize ? 'with' : 'without'} it`,
      () => forkAtOneSize(namesSize),
    );
});

/** The reader of the history that is not cosigned sees it, and so does the user who asks. */
async function forkAtOneSize(namesSize: boolean): Promise<void> {
  const { project, witness, key } = await createWitnessed();
  witness.namesSizeOfFork = namesSize;
  const config = project.mkdir('other-config');
  cpSync(join(project.config, 'colibri'), join(config, 'colibri'), { recursive: true });
  rmSync(join(config, 'colibri', 'checkpoints'), { recursive: true, force: true });
  const saved = project.save();
  await project.colibri('add', 'for the first reader');
  await project.colibri('export', '--all', '--out', project.path('first'));
  project.rollBackTo(saved);
  const env = { ...project.env, XDG_CONFIG_HOME: config };
  await project.runWith({ env }, 'add', 'for the second reader');
  const { stderr } = await project.runWith({ env }, 'export', '--all', '--out', project.path('second'));
  expect(stderr).toMatch(/has cosigned a log of \d+ entries with other entries/);
  expect(await project.runWith({ env }, 'witness')).toMatchObject({ status: 1 });
  const trust = ['--key', key, '--witness', witness.vkey];
  expect(await judge(project, project.path('first'), ...trust)).toMatchObject({ status: 0 });
  expect(await judge(project, project.path('second'), ...trust)).toMatchObject({ status: 1 });
}

describe('a server', () => {
  promiseTest('witness/background', 'asks after a sealed session and at its end, and shows the answers', async () => {
    const { project, witness, key } = await createWitnessed();
    await project.withAgent(async (agent) => {
      await seal(agent);
      await expect.poll(() => witness.sizeOf(key)).toBeGreaterThan(5);
      const { data } = await call(agent, 'server_health', {});
      expect(data).toMatchObject({ status: 'ok', witnesses: [{ name: witness.name, state: 'cosigned' }] });
    });
    const before = witness.sizeOf(key) ?? 0;
    await project.withAgent((agent) => call(agent, 'task_create', { title: 'two' }));
    expect(witness.sizeOf(key)).toBeGreaterThan(before);
  });

  promiseTest('witness/background', 'neither a call nor the end waits for a witness that is silent', async () => {
    const { project, witness } = await createWitnessed();
    witness.misbehave = () => true;
    const agent = await project.openAgent('alice', project.env);
    await seal(agent);
    await expect.poll(() => witness.requests.length).toBe(1);
    expect(await call(agent, 'task_create', { title: 'two' })).toMatchObject({ isError: false });
    const begin = performance.now();
    await agent.close();
    expect(performance.now() - begin).toBeLessThan(3500);
  });

  promiseTest('witness/background', 'says in server_health that a witness has seen another history', async () => {
    const { project, witness } = await createWitnessed();
    witness.misbehave = (response) => {
      end(response, 422);
      return true;
    };
    await project.withAgent(async (agent) => {
      await seal(agent);
      await expect
        .poll(async () => (await call(agent, 'server_health', {})).data)
        .toMatchObject({ status: 'degraded', problems: [{ code: 'WITNESS_DISAGREES' }] });
    });
  });
});
