import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { parseCheckpoint } from '../../src/integrity/index.ts';
import { tamper } from '../support/ledger.ts';
import { call } from '../support/memory-server.ts';
import { promiseTest } from '../support/promise-test.ts';
import { SigningProject, write } from './support.ts';

/** Another project of the same user, who has one key. */
class SecondProject extends SigningProject {
  readonly #first: SigningProject;

  constructor(first: SigningProject) {
    super();
    this.#first = first;
  }

  override get env(): Record<string, string> {
    return this.#first.env;
  }
}

const keyOf = async (project: SigningProject) => (await project.colibri('key')).stdout.trim();

async function createProject(): Promise<SigningProject> {
  const project = new SigningProject();
  await project.colibri('add', 'one');
  await project.checkpoint();
  return project;
}

describe('one key for several ledgers', () => {
  promiseTest(
    'bundle/forged',
    'a bundle of one ledger is not one of another, whatever its signature line says',
    async () => {
      const first = await createProject();
      const second = new SecondProject(first);
      await second.colibri('add', 'of another ledger');
      const bundle = second.path('bundle');
      await second.colibri('export', '--all', '--out', bundle);
      const [pinned, own] = [await keyOf(first), await keyOf(second)];
      expect((await second.colibri('verify', bundle, '--key', own)).status).toBe(0);
      expect((await second.colibri('verify', bundle, '--key', pinned)).status).toBe(3);
      const { origin, note } = parseCheckpoint(
        (JSON.parse(readFileSync(bundle, 'utf8').split('\n')[0] ?? '') as { checkpoint: string }).checkpoint,
      );
      const [signature] = note.signatures;
      const idOf = (key: string) => key.split('+')[1] ?? '';
      const relabeled = Buffer.concat([Buffer.from(idOf(pinned), 'hex'), signature?.bytes ?? Buffer.alloc(0)]).toString(
        'base64',
      );
      const text = readFileSync(bundle, 'utf8').replace(
        new RegExp(`— ${origin} [^\\\\]+`),
        `— ${pinned.split('+')[0]} ${relabeled}`,
      );
      expect(text).toContain(relabeled);
      writeFileSync(bundle, text);
      expect((await second.colibri('verify', bundle, '--key', pinned)).status).toBe(3);
    },
  );

  promiseTest(
    'key/rotation',
    'a rotation in one ledger reaches the others, and readers who pinned the old key',
    async () => {
      const first = await createProject();
      const second = new SecondProject(first);
      await second.colibri('add', 'two');
      await second.checkpoint();
      const pinned = await keyOf(second);
      await first.colibri('key', 'rotate');
      await second.checkpoint();
      const { keys } = JSON.parse((await second.colibri('key', '--json')).stdout) as {
        keys: { is_replaced: boolean }[];
      };
      expect(keys.map(({ is_replaced }) => is_replaced)).toEqual([true, false]);
      await second.colibri('export', '--all', '--out', second.path('bundle'));
      expect((await second.colibri('verify', second.path('bundle'), '--key', pinned)).status).toBe(0);
      expect((await second.colibri('verify')).status).toBe(0);
    },
  );

  promiseTest('key/rotation', 'rotations at the same time leave one key that the log knows', async () => {
    const project = await createProject();
    const rotations = await Promise.all(Array.from({ length: 4 }, () => project.spawnRotation()));
    const files = rotations.flatMap(({ stdout }) => /is now (\S+);/.exec(stdout)?.[1] ?? []);
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
    const key = await keyOf(project);
    await project.checkpoint();
    const { keys } = JSON.parse((await project.colibri('key', '--json')).stdout) as {
      keys: { key: string; is_replaced: boolean }[];
    };
    expect(keys.find((known) => known.key === key)).toMatchObject({ is_replaced: false });
    expect((await project.colibri('verify')).status).toBe(0);
    expect(readdirSync(join(project.config, 'colibri')).filter((name) => name.endsWith('.next'))).toEqual([]);
  });
});

describe('a ledger that came from elsewhere', () => {
  promiseTest('key/private', 'an id that is a path is refused, and nothing is written there', async () => {
    const project = await createProject();
    await tamper(
      project.ledger,
      'UPDATE ledger_entries SET entry = replace(entry, \'"ledger_id":"\', \'"ledger_id":"../../../escaped\') WHERE idx = 0',
    );
    expect((await project.colibri('checkpoint')).status).not.toBe(0);
    expect(existsSync(join(project.config, '..', 'escaped'))).toBe(false);
    expect(readdirSync(join(project.config, 'colibri', 'checkpoints'))).toHaveLength(1);
  });

  promiseTest('publish/fork', 'links in the folder are refused, and their targets are left alone', async () => {
    const project = await createProject();
    const folder = project.mkdir('public');
    symlinkSync(project.mkdir('victim'), join(folder, 'tile'));
    expect((await project.colibri('publish', folder)).status).toBe(1);
    expect(readdirSync(project.path('victim'))).toEqual([]);
  });
});

describe('an agent that runs as the same user', () => {
  promiseTest(
    'checkpoint/extends',
    'with the key and the configuration folder it can sign another history, and not take back what others hold',
    async () => {
      const project = await createProject();
      const saved = project.save();
      await project.colibri('add', 'what the agent regrets');
      const held = write(project, await project.checkpoint());
      const pinned = await keyOf(project);
      const first = project.path('first');
      await project.colibri('export', '--all', '--out', first);
      project.rollBackTo(saved);
      rmSync(join(project.config, 'colibri', 'checkpoints'), { recursive: true });
      await project.colibri('add', 'what it wishes it had done');
      const second = project.path('second');
      expect(await project.colibri('export', '--all', '--out', second)).toMatchObject({ status: 0 });
      expect(await project.colibri('verify')).toMatchObject({ status: 0 });
      // Each bundle holds alone; a reader with the earlier checkpoint, or with both bundles, sees that there are two
      // histories.
      const facts = await Promise.all(
        [first, second].map(async (file) => {
          const { status, stdout } = await project.colibri('verify', file, '--key', pinned, '--json');
          const { size, root } = JSON.parse(stdout) as { size: number; root: string };
          return { status, size, root };
        }),
      );
      expect(facts.map(({ status }) => status)).toEqual([0, 0]);
      expect(facts[0]?.size).toBe(facts[1]?.size);
      expect(facts[0]?.root).not.toBe(facts[1]?.root);
      expect(await project.colibri('checkpoint', '--check', held)).toMatchObject({ status: 1 });
    },
  );
});

describe('a ledger that replaces another', () => {
  promiseTest(
    'checkpoint/replaced',
    'a new one; once the user forgets the old one, it is not named any more',
    async () => {
      const project = await createProject();
      const { origin } = parseCheckpoint(await project.checkpoint());
      expect((await project.colibri('verify')).stdout).not.toContain('another one');
      rmSync(join(project.folder, '.colibri'), { recursive: true });
      await project.colibri('add', 'a new beginning');
      await project.checkpoint();
      const { status, stdout } = await project.colibri('verify');
      expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining(origin) as string });
      rmSync(/remove (\S+)/.exec(stdout)?.[1] ?? '');
      expect((await project.colibri('verify')).stdout).not.toContain('another one');
    },
  );
});

describe('a rolled back log', () => {
  promiseTest('checkpoint/rollback', 'is not changed by options, a new key or a read-only server either', async () => {
    const project = await createProject();
    const saved = project.save();
    await project.colibri('add', 'two');
    await project.checkpoint();
    project.rollBackTo(saved);
    for (const args of [
      ['project', '--review', 'other'],
      ['key', 'rotate'],
      ['export', '--all', '--out', project.path('b')],
    ])
      expect((await project.colibri(...args)).stderr, args.join(' ')).toContain('colibri continue');
    const reader = await project.openAgent('reader', { ...project.env, COLIBRI_MODE: 'READONLY' });
    const { structuredContent } = await reader.callTool({ name: 'server_health', arguments: {} });
    expect(structuredContent).toMatchObject({ data: { status: 'degraded', problems: [{ code: 'ERR_LOG_ROLLBACK' }] } });
  });

  promiseTest(
    'checkpoint/rollback',
    'a remembered checkpoint that is damaged is named, and never ignored',
    async () => {
      const project = await createProject();
      const folder = join(project.config, 'colibri', 'checkpoints');
      const [id = ''] = readdirSync(folder);
      const [name = ''] = readdirSync(join(folder, id));
      writeFileSync(join(folder, id, name), '');
      expect((await project.colibri('add', 'two')).stderr).toContain(join(folder, id, name));
      expect((await project.colibri('verify')).stderr).toContain('is not a checkpoint');
    },
  );
});

describe('an entry that was rewritten below the stored nodes', () => {
  promiseTest('checkpoint/extends', 'is found by --check, and nothing is proved or published of it', async () => {
    const project = new SigningProject();
    await project.withAgent(async (agent) => {
      for (let task = 0; task < 8; task += 1) await call(agent, 'task_create', { title: `${task}` });
    });
    const file = write(project, await project.checkpoint());
    expect(await project.colibri('checkpoint', '--check', file)).toMatchObject({ status: 0 });
    await tamper(project.ledger, `UPDATE ledger_entries SET entry = replace(entry, 'alice', 'eve') WHERE idx = 4`);
    const check = await project.colibri('checkpoint', '--check', file);
    expect(check).toMatchObject({ status: 1, stderr: expect.stringContaining('has other entries before') as string });
    const out = project.path('out');
    for (const args of [
      ['prove', '4', '--out', out],
      ['prove', '4', '--format', 'dsse', '--out', out],
      ['export', '--all', '--out', out],
      ['export', '--since', '2000-01-01', '--out', out],
      ['export', '--all', '--html', '--out', out],
      ['publish', out],
    ]) {
      const { status, stderr } = await project.colibri(...args);
      expect({ status, stderr }, args.join(' ')).toEqual({
        status: 1,
        stderr: expect.stringContaining('run colibri verify') as string,
      });
      expect(existsSync(join(out, 'checkpoint')) || existsSync(out), args.join(' ')).toBe(false);
    }
  });
});
