import { renameSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { type CliProject, finished, inherited } from '../support/cli-project.ts';
import { EVERYTHING_HOSTILE, findRaw } from '../support/hostile-text.ts';
import type { Ran } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { partOf } from '../support/properties.ts';
import { createHonestProject, createHostileProject, type Forgery } from '../trust/fixtures/hostile-project.ts';

const VERIFY = ['verify'];
const BOARD = ['board', '--all'];
const NEXT = ['next', '--all'];
const SHOW = ['show', '1'];
const LOG = ['log'];
const TIMELINE = ['timeline', '1'];
const DOCTOR = ['doctor'];
const BACKUP = ['backup', 'copy.db'];
const RESTORE = ['restore', '.colibri/backup.db', '--force'];
const COPY = ['copy', '--to', 'elsewhere.db'];
const INIT = ['init', 'cursor', 'claude-code', '--dry-run'];

/** Commands that show the forged text, which must be escaped, and commands that only read it. */
const CASES: Readonly<Record<Forgery, { readonly show: readonly string[][]; readonly read: readonly string[][] }>> = {
  texts: { show: [BOARD, NEXT, SHOW, LOG, TIMELINE, INIT, DOCTOR], read: [VERIFY] },
  states: { show: [SHOW], read: [VERIFY, BOARD, NEXT, LOG] },
  entries: { show: [], read: [VERIFY, SHOW, LOG] },
  names: { show: [VERIFY, BACKUP, RESTORE, COPY], read: [] },
};

const ON_A_TERMINAL = { env: { TERM: 'xterm-256color' }, terminal: { columns: 100, rows: 24 } };

let honest: CliProject;
beforeAll(async () => {
  honest = await createHonestProject();
});
afterAll(() => honest.remove());

describe('a forged ledger', () => {
  for (const [forgery, { show, read }] of Object.entries(CASES)) {
    for (const command of [...show, ...read]) {
      promiseTest('cli/harmless', `${command[0]} of a ledger with forged ${forgery}`, async () => {
        const place = await createHostileProject(honest, forgery as Forgery);
        const plain = await place.run(...command);
        const painted = await place.runWith(ON_A_TERMINAL, ...onceMore(command));
        const json = await place.run(...onceMore(command, 'third'), '--json');
        expect(findRaw(output(plain))).toEqual([]);
        expect(findRaw(output(painted), { hasColors: true })).toEqual([]);
        expect(findRaw(output(json))).toEqual([]);
        for (const line of json.stdout.trimEnd().split('\n')) expect(JSON.parse(line)).toBeTypeOf('object');
        const isShown = [plain, painted, json].map((run) => output(run).includes(String.raw`\u001b`));
        if (show.includes(command)) expect(isShown).toEqual([true, true, true]);
      });
    }
  }

  promiseTest('cli/harmless', 'a forged verdict does not start a line', async () => {
    const place = await createHostileProject(honest, 'names');
    const { stdout, status } = await place.run('verify');
    expect(status).toBe(1);
    expect(stdout).toMatch(/^TAMPERED: /);
    expect(stdout).toContain(String.raw`\nFORGED`);
  });
});

describe('a hostile environment', () => {
  promiseTest('cli/harmless', 'arguments of the command line', async () => {
    const { folder } = honest;
    const cases = [
      [EVERYTHING_HOSTILE],
      ['show', EVERYTHING_HOSTILE],
      ['board', '--width', EVERYTHING_HOSTILE],
      ['board', '--project', EVERYTHING_HOSTILE],
      ['board', `--${EVERYTHING_HOSTILE}`],
      ['verify', '--expect', EVERYTHING_HOSTILE],
      ['restore', EVERYTHING_HOSTILE],
      ['restore', EVERYTHING_HOSTILE, '--json'],
      ['copy', '--to', `postgres://${EVERYTHING_HOSTILE}`],
      ['backup', `nowhere/${EVERYTHING_HOSTILE}`],
      ['backup', `nowhere/${EVERYTHING_HOSTILE}`, '--json'],
      ['init', EVERYTHING_HOSTILE],
    ];
    for (const args of cases) expectHarmless(await honest.runWith({ cwd: folder }, ...args));
  });

  promiseTest('cli/harmless', 'environment variables, of commands and of the server', async () => {
    const names = ['COLIBRI_MODE', 'COLIBRI_PROJECT', 'COLIBRI_DATABASE_URL', 'COLIBRI_DB_PATH'];
    const commands = [['board'], ['board', '--json'], ['verify'], ['doctor'], ['doctor', '--json']];
    for (const [turn, name] of names.entries())
      for (const args of partOf(commands, turn))
        expectHarmless(await honest.runWith({ env: { [name]: EVERYTHING_HOSTILE } }, ...args));
    const server = honest.spawn([], { env: { COLIBRI_MODE: EVERYTHING_HOSTILE } });
    server.stdin?.end();
    expectHarmless(await finished(server));
  });

  promiseTest('cli/harmless', 'the path of the project', async () => {
    const place = await createHostileProject(honest, 'texts');
    const folder = `${place.folder}-x\u001b[2J\r\nFORGED\u202e`;
    renameSync(place.folder, folder);
    try {
      for (const args of [
        ['verify'],
        ['doctor'],
        ['doctor', '--json'],
        ['backup', 'x.db'],
        ['backup', 'y.db', '--json'],
      ])
        expect(findRaw(output(await place.runWith({ cwd: folder }, ...args)))).toEqual([]);
    } finally {
      renameSync(folder, place.folder);
    }
  });

  promiseTest('cli/harmless', 'names and calls of a client, in the log of a server', async () => {
    const place = await createHostileProject(honest, 'texts');
    const server = place.spawn([], { env: { ...inherited(), COLIBRI_MODE: 'MINIMAL' } });
    const send = (message: object) => server.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    // The log keeps the beginning of a name.
    const clientInfo = { name: `\u009b ${EVERYTHING_HOSTILE}`, version: '1' };
    send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } });
    send({ method: 'notifications/initialized' });
    send({ id: 2, method: 'tools/call', params: { name: EVERYTHING_HOSTILE, arguments: {} } });
    send({ id: 3, method: 'tools/call', params: { name: 'server_ping', arguments: { [EVERYTHING_HOSTILE]: 1 } } });
    server.stdin?.end();
    const { stderr } = await finished(server);
    expect(findRaw(stderr)).toEqual([]);
    // Control characters in a name are replaced before it is recorded.
    expect(stderr).toContain('\ufffd[2J');
  });
});

function output({ stdout, stderr }: Ran): string {
  return `${stdout}\n${stderr}`;
}

function expectHarmless(run: Ran): void {
  expect(findRaw(output(run))).toEqual([]);
  expect(output(run)).toMatch(/error|colibri/);
}

/** The second run must not find the file of the first one. */
function onceMore(command: readonly string[], name = 'again'): string[] {
  return command.map((word) => (word.endsWith('.db') && !word.startsWith('.') ? `${name}-${word}` : word));
}
