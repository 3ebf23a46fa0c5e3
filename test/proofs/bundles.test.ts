import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { call } from '../support/memory-server.ts';
import { promiseTest } from '../support/promise-test.ts';
import { FORGERIES } from './forgeries.ts';
import { SigningProject, seal } from './support.ts';

/** One ledger with two tasks, a sealed session and a thought, and a bundle of each scope. */
let project: SigningProject;
let key: string;
const SCOPES = [
  ['task', '--task', 'T-0001'],
  ['session', '--session', 'A-0001'],
  ['since', '--since', '1d'],
  ['ledger', '--all'],
] as const;

const FORMATS = ['cose', 'dsse'] as const;

beforeAll(async () => {
  project = new SigningProject({ isShared: true });
  await project.withAgent(async (agent) => {
    await call(agent, 'task_create', { title: 'the secret title' });
    await call(agent, 'task_create', { title: 'another task' });
    await seal(agent);
  });
  key = (await project.colibri('key')).stdout.trim();
  for (const [name, ...args] of SCOPES) await project.colibri('export', ...args, '--out', project.path(name));
  await project.colibri('export', '--all', '--redact', '--out', project.path('redacted'));
  await project.colibri('prove', '3', '--out', project.path('proof'));
  for (const format of FORMATS) await project.colibri('prove', '3', '--format', format, '--out', project.path(format));
}, 60_000);

afterAll(() => project.remove());

interface Judged {
  readonly status: number | null;
  readonly verdict: string;
  readonly message?: string;
  readonly claims?: readonly { about: string; holds: string; says: string }[];
}

async function verify(file: string, ...args: readonly string[]): Promise<Judged> {
  // In an empty folder: nothing but the file and the key.
  const { status, stdout } = await project.runWith(
    { cwd: project.mkdir('elsewhere') },
    'verify',
    file,
    ...args,
    '--json',
  );
  return { status, ...(JSON.parse(stdout) as Omit<Judged, 'status'>) };
}

/** The file with a change of its text. */
function forged(name: string, change: (text: string) => string): string {
  const before = readFileSync(project.path(name), 'utf8');
  const after = change(before);
  if (after === before) throw new Error('the forgery changes nothing');
  writeFileSync(project.path('forged'), after);
  return project.path('forged');
}

const holding = ({ claims = [] }: Judged, about: string) => claims.find((claim) => claim.about === about)?.holds;

describe('bundles', () => {
  for (const [name] of SCOPES)
    promiseTest('bundle/holds', `of a ${name}, checked without the ledger`, async () => {
      const judged = await verify(project.path(name), '--key', key);
      expect(judged).toMatchObject({ status: 0, verdict: 'whole' });
      for (const about of ['checkpoint', 'inclusion', 'content', 'session'])
        expect(holding(judged, about), about).toBe('yes');
      const isWhole = name === 'ledger' || name === 'since';
      expect(holding(judged, 'completeness')).toBe(isWhole ? 'yes' : 'unknown');
      expect([holding(judged, 'witnesses'), holding(judged, 'truth')]).toEqual(['unknown', 'unknown']);
    });

  promiseTest('bundle/redacted', 'proves the order of everything, and has no word of what was written', async () => {
    const text = readFileSync(project.path('redacted'), 'utf8');
    for (const word of ['secret', 'another task', 'because', 'auditor']) expect(text).not.toContain(word);
    expect(readFileSync(project.path('ledger'), 'utf8')).toContain('secret');
    const judged = await verify(project.path('redacted'), '--key', key);
    expect(judged).toMatchObject({ status: 0 });
    expect(holding(judged, 'completeness')).toBe('yes');
    const content = judged.claims?.find(({ about }) => about === 'content');
    expect(content?.says).toMatch(/^no content is here: that of \d+ entries is left out on purpose$/);
  });

  for (const { name, bundle, change, status } of FORGERIES)
    promiseTest('bundle/forged', name, async () => {
      expect(await verify(forged(bundle, change), '--key', key)).toMatchObject({ status });
    });

  promiseTest('bundle/key', 'no key, a damaged key, the key of another log', async () => {
    const file = project.path('ledger');
    expect(await verify(file)).toMatchObject({ status: 3, message: expect.stringContaining('--key') as string });
    expect(await verify(file, '--key', key.replace('+', '-'))).toMatchObject({ status: 3 });
    const other = new SigningProject();
    await other.colibri('add', 'one');
    const { stdout } = await other.colibri('key');
    expect(await project.colibri('verify', file, '--key', stdout.trim())).toMatchObject({
      status: 3,
      stderr: expect.stringMatching(/none of the given keys has signed the checkpoint; ask its owner for/) as string,
    });
    expect(await project.colibri('verify', '--key', key)).toMatchObject({ status: 3 });
  });

  promiseTest('bundle/refused', 'into a folder that does not exist', async () => {
    for (const args of [
      ['export', '--all'],
      ['export', '--all', '--html'],
      ['prove', '1'],
    ])
      expect(await project.colibri(...args, '--out', project.path('none/file')), args.join(' ')).toMatchObject({
        status: 3,
        stderr: expect.stringMatching(/no folder .*none; create it first/) as string,
      });
  });

  promiseTest('bundle/strict', 'a file of another kind is named as one', async () => {
    for (const text of [
      '',
      'garbage',
      '# notes\n\nof a person\n',
      `\u{feff}${readFileSync(project.path('ledger'), 'utf8')}`,
    ]) {
      writeFileSync(project.path('other'), text);
      expect(await verify(project.path('other'), '--key', key), text.slice(0, 9)).toMatchObject({
        status: 3,
        message: expect.stringContaining('other: it is neither a bundle nor a proof; expected') as string,
      });
    }
  });

  promiseTest('bundle/refused', 'a device without an end, a folder, a file that is not there', async () => {
    if (existsSync('/dev/zero'))
      expect(await verify('/dev/zero', '--key', key)).toMatchObject({
        status: 2,
        message: expect.stringContaining('larger than') as string,
      });
    for (const file of [project.folder, project.path('missing')])
      expect(await verify(file, '--key', key), file).toMatchObject({
        status: 3,
        message: expect.stringContaining('cannot be read') as string,
      });
  });

  promiseTest('bundle/refused', 'an existing file, no file, two subjects, unknown ids, no time', async () => {
    const refused = async (...args: readonly string[]) =>
      expect(await project.colibri('export', ...args), args.join(' ')).toMatchObject({ status: 3 });
    const out = project.path('new');
    await refused('--all', '--out', project.path('ledger'));
    await refused('--all');
    await refused('--all', '--task', '1', '--out', out);
    await refused('--since', 'yesterday', '--out', out);
    await refused('--task', 'T-0099', '--out', out);
    await refused('--session', 'A-0099', '--out', out);
    const { stderr } = await project.colibri('export', '--session', 'a-99', '--out', out);
    expect(stderr).toMatch(/^colibri export: no session A-0099/);
    await refused('--session', 'T-0001', '--out', out);
    for (const record of ['99999', 'T-0099', '-1', '\u0398-0099'])
      expect(await project.colibri('prove', '--out', out, '--', record), record).toMatchObject({ status: 3 });
  });

  for (const format of FORMATS)
    promiseTest('bundle/envelope', `${format}, with the same claims and one about its own signature`, async () => {
      const [alone, wrapped] = [
        await verify(project.path('proof'), '--key', key),
        await verify(project.path(format), '--key', key),
      ];
      expect(wrapped).toMatchObject({ status: 0, verdict: 'whole' });
      expect(holding(wrapped, 'envelope')).toBe('yes');
      expect(wrapped.claims?.filter(({ about }) => about !== 'envelope')).toEqual(alone.claims);
    });

  promiseTest('bundle/envelope', 'changed, cut or of another log, it does not hold', async () => {
    const receipt = readFileSync(project.path('cose'));
    const write = (bytes: Buffer) => {
      writeFileSync(project.path('forged'), bytes);
      return project.path('forged');
    };
    const lastBit = Buffer.from(receipt);
    lastBit[lastBit.length - 1] = (lastBit.at(-1) ?? 0) ^ 1;
    expect(await verify(write(lastBit), '--key', key)).toMatchObject({ status: 1, verdict: 'tampered' });
    expect(await verify(write(receipt.subarray(0, -1)), '--key', key)).toMatchObject({ status: 3 });
    const forgedSignature = (text: string) => text.replace(/(?<="sig":")./, (first) => (first === '/' ? '+' : '/'));
    expect(await verify(forged('dsse', forgedSignature), '--key', key)).toMatchObject({ status: 1 });
    const otherType = (text: string) => text.replace('in-toto', 'other');
    expect(await verify(forged('dsse', otherType), '--key', key)).toMatchObject({ status: 3 });
    const other = new SigningProject();
    await other.colibri('add', 'one');
    const otherKey = (await other.colibri('key')).stdout.trim();
    for (const format of FORMATS)
      expect(await verify(project.path(format), '--key', otherKey), format).toMatchObject({ status: 3 });
  });

  promiseTest('bundle/envelope', 'under an earlier checkpoint, if the same key has signed it', async () => {
    const own = new SigningProject();
    await own.colibri('add', 'one');
    writeFileSync(own.path('earlier'), await own.checkpoint());
    const pinned = (await own.colibri('key')).stdout.trim();
    await own.colibri('add', 'two');
    for (const format of FORMATS) {
      const file = own.path(format);
      const args = ['prove', '2', '--format', format, '--at', own.path('earlier'), '--out'];
      expect(await own.colibri(...args, file), format).toMatchObject({ status: 0 });
      expect(await verify(file, '--key', pinned), format).toMatchObject({ status: 0, verdict: 'whole' });
    }
    await own.colibri('key', 'rotate');
    const late = await own.colibri(
      'prove',
      '2',
      '--format',
      'cose',
      '--at',
      own.path('earlier'),
      '--out',
      own.path('x'),
    );
    expect(late).toMatchObject({ status: 3, stderr: expect.stringContaining('your key has not signed') as string });
  });

  promiseTest('bundle/envelope', 'a receipt needs a file, a statement can be printed', async () => {
    expect(await project.colibri('prove', '3', '--format', 'cose')).toMatchObject({ status: 3 });
    const { status, stdout } = await project.colibri('prove', '3', '--format', 'dsse');
    expect(status).toBe(0);
    expect(stdout).toBe(readFileSync(project.path('dsse'), 'utf8'));
    const payloadOf = async (...args: readonly string[]) => {
      const printed = await project.colibri('prove', '\u0398-0001', '--format', 'dsse', ...args);
      const { payload } = JSON.parse(printed.stdout) as { payload: string };
      return Buffer.from(payload, 'base64').toString('utf8');
    };
    expect(await payloadOf()).toContain('because');
    expect(await payloadOf('--redact')).not.toContain('because');
  });

  promiseTest('bundle/holds', 'a proof of one record, by its index or as a thought', async () => {
    expect(await verify(project.path('proof'), '--key', key)).toMatchObject({ status: 0 });
    const { stdout } = await project.colibri('prove', '\u0398-0001');
    writeFileSync(project.path('thought'), stdout);
    const judged = await verify(project.path('thought'), '--key', key);
    expect(judged).toMatchObject({ status: 0 });
    expect(holding(judged, 'content')).toBe('yes');
  });

  promiseTest('bundle/holds', 'a proof of a task or a session, by any form of its id', async () => {
    for (const [records, kind] of [
      [['T-0001', 't1'], 'task.created'],
      [['A-0001', 'a-1'], 'session.finalized'],
      [['\u0398-0001', 'TH-1'], 'thought'],
    ] as const)
      for (const record of records) {
        const { stdout } = await project.colibri('prove', record);
        const extra = /^extra (.*)$/m.exec(stdout)?.[1] ?? '';
        const { entry } = JSON.parse(Buffer.from(extra, 'base64').toString()) as { entry: string };
        expect(entry, record).toContain(`"kind":"${kind}"`);
      }
    for (const record of ['T-0099', 'A-0099', 'X-1', '']) {
      const { status, stderr } = await project.colibri('prove', record);
      expect({ status, stderr }, record).toMatchObject({ status: 3 });
    }
  });
});
