import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { countDropped, listSpool, removeAbandoned } from '../../src/recorder/spool.ts';
import { fillReserve } from '../../src/recorder/spool-reserve.ts';
import { parseSpooled } from '../../src/recorder/spooled-event.ts';
import { createSmallDisk } from '../faults/disk/small-disk.ts';
import { CliProject } from '../support/cli-project.ts';
import { promiseTest } from '../support/promise-test.ts';
import { post, RecordedProject, refused, SILENT } from './recorded-project.ts';

describe('colibri hook', () => {
  promiseTest('recorder/spool', '20 hooks at once lose nothing, and their files are private', async () => {
    const project = new RecordedProject();
    const ids = Array.from({ length: 20 }, (_, index) => `call-${index}`);
    const results = await Promise.all(ids.map((id) => project.hook(post({ tool_use_id: id }))));
    expect(results).toEqual(ids.map(() => SILENT));
    const events = project.events();
    expect(new Set(events.map(({ call_id: id }) => id))).toEqual(new Set(ids));
    expect(new Set(events.map(({ key }) => key)).size).toBe(20);
    expect(events[0]).toMatchObject({ client: 'claude-code', action: 'shell', outcome: 'ok', exit_code: 0 });
    expect(statSync(project.spool).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(project.spool)) expect(statSync(join(project.spool, name)).mode & 0o777).toBe(0o600);
  });

  promiseTest('recorder/spool', 'kill -9 at any point leaves no torn file under a final name', async () => {
    const project = new RecordedProject();
    for (const moment of ['writeFileSync', 'fsyncSync', 'closeSync', 'renameSync']) {
      const hook = project.path(`${moment}.cjs`);
      writeFileSync(hook, KILL_AT.replaceAll('MOMENT', moment));
      const { status } = await project.hook(post(), { env: { NODE_OPTIONS: `--require ${JSON.stringify(hook)}` } });
      expect(status, moment).toBeNull();
      expect(listSpool(project.spool)).toEqual([]);
    }
    expect(readdirSync(project.spool)).toHaveLength(4);
    removeAbandoned(project.spool, new Date());
    expect(readdirSync(project.spool)).toHaveLength(4);
    removeAbandoned(project.spool, new Date(Date.now() + 7_200_000));
    expect(readdirSync(project.spool)).toEqual([]);
  });

  promiseTest('recorder/clients', 'the variables of a client tell its version, and whose hooks it runs', async () => {
    const project = new RecordedProject();
    const start = { session_id: 's', hook_event_name: 'SessionStart', source: 'new' };
    const borrowed = JSON.stringify({ ...start, timestamp: '2026-11-16T14:25:09.112Z' });
    const copilot = { COPILOT_CLI: '1', COPILOT_CLI_BINARY_VERSION: '1.0.102' };
    const claude = { AI_AGENT: 'claude-code_2-1-325_harness' };
    const results = await Promise.all([
      project.hook(borrowed, { env: copilot }),
      project.hook(borrowed, { env: { ...claude, COPILOT_CLI: '0' } }),
      project.hook(JSON.stringify(start), { env: { ...claude, ...copilot } }),
      project.hook(post(), { env: { AI_AGENT: 'claude-code_<script>', ...copilot } }),
    ]);
    expect(results).toEqual(results.map(() => SILENT));
    const facts = project.events().map(({ client, client_version, phase }) => `${client} ${client_version} ${phase}`);
    expect(facts.sort()).toEqual([
      'claude-code 2.1.325 session_start',
      'claude-code null after',
      'copilot-cli 1.0.102 session_start',
      'vscode null session_start',
    ]);
  });

  promiseTest('recorder/spool', 'a process that got no processor for longer than its time limit', async () => {
    const project = new RecordedProject();
    const suspended = project.path('suspended.cjs');
    writeFileSync(suspended, SUSPEND);
    const env = { NODE_OPTIONS: `--require ${JSON.stringify(suspended)}` };
    const results = await Promise.all([
      project.hook(post({ tool_use_id: 'ended' }), { env }),
      project.hook(post({ tool_use_id: 'open' }), { env, isOpen: true }),
      project.hook('', { isOpen: true }),
    ]);
    expect(results).toEqual([SILENT, SILENT, refused(/no event arrived in time/)]);
    const ids = project.events().map(({ call_id: id }) => id);
    expect(new Set(ids)).toEqual(new Set(['ended', 'open']));
    expect(countDropped(project.spool)).toBe(1);
  });

  promiseTest('recorder/silent', 'broken, empty, huge and unknown input', async () => {
    const project = new RecordedProject();
    const huge = `{"session_id":"s","hook_event_name":"PostToolUse","tool_response":"${'x'.repeat(17_000_000)}"}`;
    writeFileSync(project.path('huge.json'), huge);
    writeFileSync(project.path('many.json'), post({ tool_response: Array.from({ length: 1_100_000 }, () => 0) }));
    writeFileSync(project.path('text.json'), post({ tool_response: { stdout: 'x'.repeat(3_000_000) } }));
    const fromFile = (name: string) => ['sh', '-c', `exec "$0" "$@" < ${name}.json`];
    const [empty, ...recorded] = await Promise.all([
      project.hook(' \n'),
      project.hook('{"session_id": "s", '),
      project.hook('', { launcher: fromFile('huge') }),
      project.hook('', { launcher: fromFile('many'), args: ['--client', 'claude-code', '--event', 'PostToolUse'] }),
      project.hook('', { launcher: fromFile('text') }),
      project.hook(post({ tool_use_id: 'open' }), { isOpen: true }),
      project.hook('{"session_id": "s", ', { isOpen: true }),
      project.hook('{"what":"is this"}', { args: ['--event', 'strange', '--bogus', '--client'] }),
      project.hook(post({ hook_event_name: 'ThoughtOfTomorrow', tool_use_id: 'later' })),
      project.hook(Buffer.from([0xef, 0xbb, 0xbf, 0xff, 0xfe, 0x7b])),
      project.hook(`\ufeff${post({ tool_use_id: 'byte order mark' })}`),
    ]);
    expect(recorded).toEqual(recorded.map(() => SILENT));
    expect(empty).toEqual(refused(/^colibri hook: standard input is empty; [^\n]+\n$/));
    const facts = project
      .events()
      .map(({ client, event, phase, content }) => `${client} ${event} ${phase} ${content?.replace(/x{9,}.*/, 'x')}`);
    expect(facts.sort()).toEqual(
      [
        'claude-code PostToolUse after {"command":"npm test","exit_code":0,"output":"fine"}',
        'claude-code PostToolUse after {"command":"npm test","exit_code":0,"output":"fine"}',
        'unknown unreadable other {"defect":"incomplete"}',
        'claude-code ThoughtOfTomorrow other {"command":"npm test","output":"fine"}',
        'unknown strange other {"defect":"unknown client"}',
        'unknown unreadable other {"defect":"not JSON"}',
        'unknown unreadable other {"defect":"not JSON"}',
        'unknown unreadable other {"defect":"too long"}',
        'claude-code PostToolUse other {"defect":"too long"}',
        'claude-code PostToolUse after {"command":"npm test","cut":true,"output":"x',
      ].sort(),
    );
  });

  promiseTest('recorder/silent', 'a full disk, and a spool that is not a folder', async () => {
    const project = new RecordedProject();
    writeFileSync(project.spool, '');
    expect(await project.hook(post())).toEqual(refused(/spool is not a folder/));
    const disk = createSmallDisk(project.mkdir('disk'));
    if (disk === undefined) return;
    const fill = 'mkdir -m 700 .colibri .colibri/spool; { head -c 8m /dev/zero > filler; } 2>/dev/null';
    const launcher = [...disk.launcher, 'sh', '-c', `${fill}; exec "$0" "$@"`];
    expect(await project.hook(post(), { launcher })).toEqual(
      refused(/^colibri hook: (?:\S+: )?the disk is full; free some space and try again; the event is not recorded\n$/),
    );
    // What a server left there, one of them too small, one a link.
    fillReserve(project.mkdir('reserve'));
    const names = readdirSync(project.path('reserve'));
    expect(names).toHaveLength(16);
    expect(statSync(project.path(`reserve/${names[0]}`))).toMatchObject({ size: 16_384, mode: 0o100_600 });
    truncateSync(project.path('reserve/.reserve-0'), 10);
    rmSync(project.path('reserve/.reserve-1'));
    symlinkSync(project.path('elsewhere'), project.path('reserve/.reserve-1'));
    const reserved = fill.replace(';', `; cp -dp ${project.path('reserve')}/.reserve-[012] .colibri/spool;`);
    const twice = `${reserved}; "$0" "$@"; cat .colibri/spool/*.json >&2`;
    const { status, stdout, stderr } = await project.hook(post(), { launcher: [...disk.launcher, 'sh', '-c', twice] });
    expect([status, stdout, stderr]).toEqual([0, '', expect.stringContaining('"call_id":"call-1"')]);
    expect(parseSpooled(stderr)?.content).toContain('npm test');
    expect(existsSync(project.path('elsewhere'))).toBe(false);
  });

  promiseTest('recorder/silent', 'a folder that may not be written, and a closed standard error', async () => {
    const project = new RecordedProject();
    const failing = project.path('failing.cjs');
    writeFileSync(failing, FAIL_TO_OPEN);
    const env = { NODE_OPTIONS: `--require ${JSON.stringify(failing)}` };
    expect(await project.hook(post(), { env })).toEqual(refused(/EACCES/));
    const launcher = ['sh', '-c', 'exec "$0" "$@" 2>&-'];
    expect((await project.hook(post(), { env, launcher })).status).toBe(0);
    expect(readdirSync(project.spool)).toEqual([]);
  });

  promiseTest('recorder/refusals', 'a link, another owner, and a folder that others may read', async () => {
    const linked = new RecordedProject();
    symlinkSync(linked.mkdir('elsewhere'), linked.spool);
    const open = new RecordedProject();
    mkdirSync(open.spool, { mode: 0o755 });
    chmodSync(open.spool, 0o755);
    writeFileSync(join(open.spool, '1794831437178-18664-71ace029d381c0fc.json'), '{}');
    expect(await linked.hook(post())).toEqual(refused(/spool is a symbolic link/));
    expect(await open.hook(post())).toEqual(refused(/spool is open to other users/));
    expect(readdirSync(linked.path('elsewhere'))).toEqual([]);
    expect(() => listSpool(open.spool)).toThrow('open to other users');
    chmodSync(open.spool, 0o700);
    expect(listSpool(open.spool)).toEqual([]);
    // Only root may give a file away.
    if (process.geteuid?.() !== 0) return;
    chownSync(open.spool, 65_534, 65_534);
    expect(await open.hook(post())).toEqual(refused(/spool belongs to another user/));
    const foreign = new RecordedProject();
    chownSync(join(foreign.folder, '.colibri'), 65_534, 65_534);
    expect(await foreign.hook(post())).toEqual(refused(/\.colibri belongs to another user/));
  });

  promiseTest(
    'recorder/spool',
    'from a subfolder, by the project that the client names, and nowhere else',
    async () => {
      const project = new RecordedProject();
      const elsewhere = new CliProject();
      const away = { cwd: elsewhere.folder };
      expect(await project.hook(post({ tool_use_id: 'sub' }), { cwd: project.mkdir('a/b') })).toEqual(SILENT);
      const env = { CLAUDE_PROJECT_DIR: project.folder, COLIBRI_HOOK_TEST: 'another session' };
      expect(await project.hook(post({ tool_use_id: 'variable' }), { ...away, env })).toEqual(SILENT);
      expect(await project.hook(post({ tool_use_id: 'payload', cwd: project.folder }), away)).toEqual(SILENT);
      expect(await project.hook(post({ tool_use_id: 'nowhere' }), away)).toEqual(SILENT);
      const named = { COLIBRI_DB_PATH: project.path('.colibri/other.db') };
      expect(await project.hook(post({ tool_use_id: 'named' }), { ...away, env: named })).toEqual(SILENT);
      const ids = (spool?: string) => project.events(spool).map(({ call_id: id }) => id);
      expect(ids()).toEqual(['sub', 'variable', 'payload']);
      // Ledgers that share a folder have a spool each: a server of the other one would record the event.
      expect(ids(project.path('.colibri/other.db.spool'))).toEqual(['named']);
      expect(existsSync(elsewhere.path('.colibri'))).toBe(false);
    },
  );

  promiseTest('recorder/spool', 'a relative path of the ledger begins in the project', async () => {
    const project = new RecordedProject();
    writeFileSync(project.path('.colibri/other.db'), '');
    const env = { COLIBRI_DB_PATH: '.colibri/other.db' };
    const within = { cwd: project.mkdir('a/b') };
    const away = { cwd: new CliProject().folder };
    expect(await project.hook(post({ tool_use_id: 'sub' }), { ...within, env })).toEqual(SILENT);
    const named = { ...env, CLAUDE_PROJECT_DIR: project.folder };
    expect(await project.hook(post({ tool_use_id: 'variable' }), { ...away, env: named })).toEqual(SILENT);
    expect(await project.hook(post({ tool_use_id: 'payload', cwd: project.folder }), { ...away, env })).toEqual(SILENT);
    const events = project.events(project.path('.colibri/other.db.spool'));
    expect(events.map(({ call_id: id }) => id)).toEqual(['sub', 'variable', 'payload']);
  });

  promiseTest('recorder/silent', 'its help is the only thing that it prints for people', async () => {
    const project = new CliProject();
    const { status, stdout } = await project.run('hook', '--help');
    expect(status).toBe(0);
    expect(stdout).toContain('colibri hook < event.json');
  });
});

/** Ends the process by a signal in the middle of a file operation; a write gets half way. */
const KILL_AT = `
const fs = require('node:fs');
const { MOMENT: original, openSync } = fs;
let isWriting = false;
fs.openSync = (path, flags, mode) => {
  isWriting ||= mode === 0o600;
  return openSync(path, flags, mode);
};
fs.MOMENT = (...args) => {
  if (!isWriting) return original(...args);
  if ('MOMENT' === 'writeFileSync') fs.writeSync(args[0], args[1].slice(0, args[1].length / 2));
  process.kill(process.pid, 'SIGKILL');
};
`;

/** Stops the thread as soon as the hook measures time: its timers are late before it has read anything. */
const SUSPEND = `
for (const name of ['setTimeout', 'setInterval']) {
  const original = globalThis[name];
  globalThis[name] = (...args) => {
    const timer = original(...args);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2100);
    return timer;
  };
}
`;

/** Stands in for a folder without write permission, which root does not notice. */
const FAIL_TO_OPEN = `
const fs = require('node:fs');
const original = fs.openSync;
fs.openSync = (path, ...rest) => {
  if (String(path).includes('spool')) throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
  return original(path, ...rest);
};
`;
