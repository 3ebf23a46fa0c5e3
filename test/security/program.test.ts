import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { CAN_TRACE } from '../../torture/disk/injection.ts';
import { PROGRAM } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';

/** In everything that agents write; no line of a log may have it. */
const SECRET = 'canary-c0ffee-secret';
/** As text, because a literal in code would set the prototype instead of naming a key. */
const POLLUTION = `{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"note":"${SECRET}"}`;

const call = (id: number, name: string, input: string) =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":${input},"__proto__":{"polluted":true}}}`;

const INITIALIZE = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":${POLLUTION},"clientInfo":{"name":"raw","version":"1"}}}`;
const SESSION = [
  INITIALIZE,
  '{"jsonrpc":"2.0","method":"notifications/initialized"}',
  call(1, 'task_create', `{"title":"${SECRET}","description":"${SECRET}","status":"todo"}`),
  call(2, 'audit_session_start', `{"task_id":"T-0001","auditor_id":"${SECRET}"}`),
  call(3, 'thought_record', `{"task_id":"T-0001","type":"decision","content":"${SECRET}","metadata":${POLLUTION}}`),
  call(4, 'task_create', `{"title":"${SECRET}","unknown_${SECRET}":1,"__proto__":{"title":"x"}}`),
  call(5, 'task_update', `{"task_id":"T-0001","status":"done","patch":${POLLUTION}}`),
  call(6, 'merkle_finalize', '{"session_id":"A-0001"}'),
  call(7, 'task_list', `{"search":"${SECRET}"}`),
  `{"jsonrpc":"2.0","id":8,"method":"${SECRET}","params":${POLLUTION}}`,
  `not JSON ${SECRET}`,
];
const HOOK = `{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"curl -H ${SECRET}","__proto__":{"polluted":true}},"tool_response":{"stdout":"${SECRET}","exitCode":0},"tool_use_id":"toolu_1","cwd":".","constructor":{"prototype":{"polluted":true}}}`;

/** Everything that writes a file, as a user runs it. */
const SCRIPT = `
colibri init claude-code cursor --record
colibri < session.jsonl
colibri hook < hook.json
COLIBRI_MODE=READONLY colibri < session.jsonl
colibri hook < session.jsonl
colibri add "${SECRET}"
colibri export --all --out bundle.colibri
colibri verify bundle.colibri
colibri prove 3 --out record.proof
colibri export --markdown notes
colibri backup backup.db
colibri publish tiles
colibri checkpoint
colibri verify
colibri board
`;

/** Ends with a line in a file if a prototype has changed. */
const WATCHER = `
const watched = [Object, Array, Function, String].map(({ prototype }) => prototype);
const names = () => JSON.stringify(watched.map((prototype) => Reflect.ownKeys(prototype).map(String)));
const before = names();
process.on('exit', () => {
  const isChanged = names() !== before || ({}).polluted !== undefined;
  if (isChanged) require('node:fs').appendFileSync(process.env.POLLUTED, process.argv.join(' ') + '\\n');
});`;

describe('a whole session', () => {
  const root = mkdtempSync(join(tmpdir(), 'colibri-security-'));
  const [home, project] = [join(root, 'home'), join(root, 'project')];
  let output = { stdout: '', stderr: '' };

  beforeAll(() => {
    for (const folder of [home, project]) mkdirSync(folder, { mode: 0o700 });
    writeFileSync(join(root, 'watcher.cjs'), WATCHER);
    writeFileSync(join(project, 'session.jsonl'), `${SESSION.join('\n')}\n`);
    writeFileSync(join(project, 'hook.json'), HOOK);
    writeFileSync(
      join(project, '.mcp.json'),
      `{"mcpServers":{"__proto__":{"polluted":true}},"constructor":${POLLUTION}}`,
    );
    const script = `umask 0\ncolibri() { "$NODE" "$PROGRAM" "$@"; }\n${SCRIPT}`;
    const strace = ['strace', '-f', '-q', '-o', join(root, 'network'), '-e', 'trace=socket,connect,bind,listen', '--'];
    const [command, ...args] = [...(CAN_TRACE ? strace : []), 'sh', '-c', script];
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      NODE: process.execPath,
      PROGRAM,
      NODE_OPTIONS: `--require ${join(root, 'watcher.cjs')}`,
      POLLUTED: join(root, 'polluted'),
      COLIBRI_LOG_LEVEL: 'debug',
    };
    const { stdout, stderr } = spawnSync(command, args, { cwd: project, env, encoding: 'utf8', maxBuffer: 1 << 26 });
    output = { stdout, stderr };
  });

  afterAll(() => rmSync(root, { recursive: true, force: true }));

  promiseTest('security/modes', 'whatever the umask', () => {
    const files = [home, project].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) =>
        join(folder, name).slice(root.length + 1),
      ),
    );
    expect(files).toEqual(expect.arrayContaining(OWN.map((name) => expect.stringMatching(name) as string)));
    const open = files.filter((name) => (statSync(join(root, name)).mode & 0o077) !== 0);
    expect(open.filter((name) => !SHARED.test(name))).toEqual([]);
  });

  promiseTest('security/network', 'neither a server nor a hook nor a command', () => {
    if (!CAN_TRACE) return console.warn('strace is missing or may not trace: sockets were not watched');
    const calls = readFileSync(join(root, 'network'), 'latin1').split('\n');
    expect(calls.filter((line) => /AF_INET|AF_NETLINK|\blisten\(/.test(line))).toEqual([]);
    // The tracing worked: each process of Node was seen.
    expect(calls.filter((line) => line.includes('exited with')).length).toBeGreaterThan(10);
  });

  promiseTest('security/prototypes', 'of messages, hooks, client configurations and bundles', () => {
    expect(readdirSync(root)).not.toContain('polluted');
    expect(output.stdout).toContain('"task_id":"T-0001"');
  });

  promiseTest('security/logs', 'of calls, refused calls, garbage and hooks', () => {
    const lines = output.stderr.split('\n');
    // A READONLY server logs its calls, and every server what it could not read.
    for (const event of ['action.exit', 'ready', 'stopping'])
      expect([event, lines.some((line) => line.includes(`"event":"${event}"`))]).toEqual([event, true]);
    expect(lines.filter((line) => line.includes(SECRET))).toEqual([]);
  });
});

/** What must have been created, so that the test looks at it. */
const OWN = [
  /\.colibri\/colibri\.db$/,
  /\.colibri\/\.gitignore$/,
  /signing-key\.pem$/,
  /checkpoints\/[\w-]+\/\d{16}$/,
  /backup\.db$/,
  /bundle\.colibri$/,
  /record\.proof$/,
  /notes\/.*\.md$/,
  /tiles\/checkpoint$/,
];
/** What others are meant to read: files of the test, of a project that is shared by git, and a published log. */
const SHARED =
  /^project\/(?:session\.jsonl|hook\.json|\.mcp\.json|AGENTS\.md|CLAUDE\.md|\.(?:agents|claude|cursor|git)(?:\/|$)|tiles(?:\/|$))/;
