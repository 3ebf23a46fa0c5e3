// Plays a session on the built program and keeps its ledger for test/upgrade, before a migration changes the schema.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = join(root, 'dist/colibri.cjs');
const ledgers = join(root, 'test/upgrade/ledgers');
const task = (task_id, input) => ['task_update', { task_id, ...input }];

const CALLS = [
  ['task_create', { title: 'Strict parser', description: 'Half a pair 字 🐦', labels: ['parser'], status: 'todo' }],
  ['task_create', { title: 'Its tests', parent_id: 'T-0001', status: 'todo', priority: 'high' }],
  ['task_create', { title: 'Ship it', workflow: 'pipeline', project: 'release', depends_on: ['T-0001', 'T-0002'] }],
  ['task_create', { title: 'Wait for a licence', status: 'todo', estimate_hours: 2.5 }],
  task('T-0004', { status: 'blocked', blocked_reason: 'the owner is away' }),
  task('T-0003', { status: 'GATHER', progress: 10 }),
  ['task_create', { title: '' }],
  ['audit_session_start', { task_id: 'T-0001', auditor_id: 'auditor', reason: 'release', scope: 'deep' }],
  ['audit_session_start', { task_id: 'T-0003', auditor_id: 'another auditor' }],
  [
    'thought_record',
    {
      task_id: 'T-0001',
      type: 'decision',
      content: 'Use a strict parser.',
      branch: 'feature/parser',
      commit_sha: 'a3f7d9b2c',
      tests_run: ['parser.test.ts'],
      blockers: ['a licence'],
      metadata: { tokens: 1200, nested: { deep: [true, null, 'x'] } },
    },
  ],
  ['thought_record', { task_id: 'T-0002', session_id: 'A-0001', type: 'discovery', content: 'covered by the parent' }],
  ['thought_record', { task_id: 'T-0003', type: 'reflection', content: 'why' }],
  ...['in_progress', 'review', 'done'].map((status) => task('T-0001', { status })),
  task('T-0002', { status: 'in_progress' }),
  ['merkle_finalize', { session_id: 'A-0001' }],
  ['task_list', {}],
];

const folder = mkdtempSync(join(tmpdir(), 'colibri-ledger-'));
const env = { PATH: process.env.PATH ?? '', HOME: folder, COLIBRI_AGENT_ID: 'fixture', COLIBRI_LOG_LEVEL: 'error' };
const run = (args, input) => execFileSync(process.execPath, [program, ...args], { cwd: folder, env, input });
try {
  await playCalls();
  run(['project', '--review', 'other']);
  const payloads = readFileSync(join(root, 'test/recorder/payloads/claude-code-2.1.325.jsonl'), 'utf8').split('\n');
  for (const payload of payloads.slice(0, 6)) run(['hook'], payload);
  // A server takes up what the hooks have spooled, and leaves one file when it stops.
  run(['serve'], '');
  const { size, root: hash } = JSON.parse(run(['verify', '--json']).toString());
  const bytes = readFileSync(join(folder, '.colibri/colibri.db'));
  const name = `schema-${String(bytes.readUInt32BE(60)).padStart(2, '0')}`;
  writeFileSync(join(ledgers, `${name}.db.gz`), gzipSync(bytes, { level: 9 }));
  const roots = JSON.parse(readFileSync(join(ledgers, 'roots.json'), 'utf8'));
  writeFileSync(
    join(ledgers, 'roots.json'),
    `${JSON.stringify({ ...roots, [name]: { size, root: hash } }, undefined, 2)}\n`,
  );
  console.log(`${name}: ${size} entries`);
} finally {
  rmSync(folder, { recursive: true });
}

async function playCalls() {
  const server = spawn(process.execPath, [program], { cwd: folder, env, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(server.stdout)[Symbol.asyncIterator]();
  const send = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'fixture', version: '1' };
  send({ id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
  await lines.next();
  send({ method: 'notifications/initialized' });
  for (const [index, [name, input]] of CALLS.entries()) {
    send({ id: index + 1, method: 'tools/call', params: { name, arguments: input } });
    await lines.next();
  }
  server.stdin.end();
  await new Promise((resolve) => server.once('close', resolve));
}
