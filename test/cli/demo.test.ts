import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { CliProject, reportOf } from '../support/cli-project.ts';
import { PROGRAM } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';

interface Told {
  readonly ok: boolean;
  readonly message?: string;
  readonly folder?: string;
  readonly steps: readonly { readonly step: string; readonly text: string; readonly evidence: Evidence }[];
}
type Evidence = Record<string, never>;

/** Creates the temporary folder of the demo inside the project, where the test can see it. */
async function play(place: CliProject, ...args: string[]) {
  const result = await place.runWith({ env: { TMPDIR: place.mkdir('tmp') } }, 'demo', ...args);
  return { ...result, left: readdirSync(place.path('tmp')) };
}

async function tell(place: CliProject, ...args: string[]): Promise<Told> {
  return JSON.parse((await play(place, '--json', ...args)).stdout) as Told;
}

describe('demo', () => {
  promiseTest('demo/story', 'prints a line per step', async () => {
    const { status, stdout, stderr, left } = await play(new CliProject());
    expect({ status, stderr, left }).toEqual({ status: 0, stderr: '', left: [] });
    expect(stdout.trimEnd().split('\n')).toHaveLength(12);
    expect(stdout).toMatch(
      /(?:alice wins, bob is refused: ERR_CLAIM_HELD, held by alice|bob wins, alice is refused: ERR_CLAIM_HELD, held by bob)/,
    );
    expect(stdout).toContain('ERR_WRITEBACK_REQUIRED');
    expect(stdout).toContain('TAMPERED at Θ-0001');
    expect(stdout).not.toContain('\u001B');
  });

  promiseTest('demo/story', '--json has the tool results behind every line', async () => {
    const { ok, steps } = await tell(new CliProject());
    expect(ok).toBe(true);
    expect(steps.map(({ step }) => step)).toEqual(
      'create race shortcut thought done seal check verify forgery caught fixed'.split(' '),
    );
    const evidence = Object.fromEntries(steps.map(({ step, evidence }) => [step, evidence])) as Record<
      string,
      Evidence
    >;
    const { alice, bob } = evidence['race'] as unknown as Record<string, Record<string, unknown>>;
    const [winner, loser] = alice?.['code'] === undefined ? [alice, bob] : [bob, alice];
    expect(winner).toMatchObject({ status: 'in_progress', previous_status: 'todo' });
    expect(loser).toMatchObject({ code: 'ERR_CLAIM_HELD', holder: winner?.['assignee'] });
    expect(evidence['shortcut']).toMatchObject({ code: 'ERR_WRITEBACK_REQUIRED', missing_fields: ['thought_record'] });
    expect(evidence['done']).toMatchObject({ status: 'done', previous_status: 'review' });
    expect(evidence['seal']).toMatchObject({ leaf_count: 2 });
    expect(evidence['verify']).toMatchObject({ verdict: 'whole', problems: [] });
    expect(evidence['caught']).toMatchObject({ verdict: 'tampered', problems: [{ place: 'Θ-0001' }] });
    expect(evidence['fixed']).toEqual(evidence['verify']);
  });

  promiseTest('demo/throw-away', '--keep keeps the folder, whose ledger verifies', async () => {
    const place = new CliProject();
    const { ok, folder } = await tell(place, '--keep');
    expect({ ok, left: readdirSync(place.path('tmp')) }).toEqual({ ok: true, left: [folder?.split('/').at(-1)] });
    expect((await reportOf(join(String(folder), '.colibri/colibri.db'))).problems).toEqual([]);
    expect((await play(place, '--keep')).stdout).toMatch(/\nKept the folder .*colibri-demo-/);
  });

  promiseTest('demo/throw-away', 'ignores the environment and the ledger of the current folder', async () => {
    const place = new CliProject();
    await place.addTasks('mine');
    const before = readFileSync(place.ledger);
    const env = { COLIBRI_MODE: 'READONLY', COLIBRI_DB_PATH: place.ledger, COLIBRI_AGENT_ID: 'me', AMS_MODE: 'old' };
    const { status, stdout } = await place.runWith({ env }, 'demo');
    expect({ status, end: stdout.includes('the edit is undone, colibri verify: whole') }).toEqual({
      status: 0,
      end: true,
    });
    expect(readFileSync(place.ledger).equals(before)).toBe(true);
  });

  promiseTest('demo/throw-away', 'removes the folder when a signal ends it', async () => {
    const place = new CliProject();
    const child = place.spawn(['demo'], { env: { TMPDIR: place.mkdir('tmp') } });
    const exited = once(child, 'exit');
    const isOnStage = () =>
      readdirSync(place.path('tmp'), { recursive: true }).some((name) => String(name).endsWith('.db'));
    while (!isOnStage()) await new Promise((resolve) => setImmediate(resolve));
    child.kill('SIGTERM');
    const [, signal] = await exited;
    expect(signal).toBe('SIGTERM');
    expect(readdirSync(place.path('tmp'))).toEqual([]);
  });
});

describe('a demo that fails', () => {
  /** The real program, except for one command. */
  const withCommand = (place: CliProject, command: string, body: string): string => {
    const path = place.path('fake.mjs');
    const real = JSON.stringify(pathToFileURL(PROGRAM).href);
    writeFileSync(path, `if (process.argv[2] === '${command}') { ${body} } else { await import(${real}); }`);
    return path;
  };

  it.each([
    ['a server exits immediately', 'serve', 'process.exit(1)', 'the server of '],
    [
      'verify misses the forgery',
      'verify',
      'console.log(JSON.stringify({ verdict: "whole", size: 1, root: "00", problems: [] }))',
      'verify reports whole instead of tampered',
    ],
    [
      'verify reports a false alarm',
      'verify',
      'console.log(JSON.stringify({ verdict: "tampered", size: 1, root: "00", problems: [{ place: "x", problem: "y" }] }))',
      'verify reports tampered instead of whole',
    ],
    ['verify prints nothing', 'verify', '', 'JSON'],
  ])('reports that %s', async (_case, command, body, message) => {
    const place = new CliProject();
    const program = withCommand(place, command, body);
    const env = { TMPDIR: place.mkdir('tmp') };
    const people = await place.runWith({ program, env }, 'demo');
    expect({ status: people.status, stderr: people.stderr.includes(message) }).toEqual({ status: 1, stderr: true });
    const machines = await place.runWith({ program, env }, 'demo', '--json');
    expect(JSON.parse(machines.stdout)).toMatchObject({ ok: false, message: expect.stringContaining(message) });
    expect({ status: machines.status, left: readdirSync(env.TMPDIR) }).toEqual({ status: 1, left: [] });
  });

  it('reports a missing folder for temporary files', async () => {
    const { status, stderr } = await new CliProject().runWith({ env: { TMPDIR: '/nowhere' } }, 'demo');
    expect({ status, stderr: stderr.includes('/nowhere') }).toEqual({ status: 1, stderr: true });
  });

  it('refuses unknown options', async () => {
    const { status, stderr } = await new CliProject().run('demo', '--kep');
    expect(status).toBe(64);
    expect(stderr).toContain('--keep');
  });
});
