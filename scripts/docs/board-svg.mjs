// Writes docs/board.svg: four agents fill a temporary ledger through the built program, and `colibri board` is
// rendered.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { buildAll } from '../build/build.mjs';
import { drawTerminal } from './ansi-svg.mjs';
import { loadSources } from './load-sources.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const COLUMNS = 118;
const NOW_MS = Date.parse('2026-04-08T22:15:30.000Z');

const folder = mkdtempSync(join(tmpdir(), 'colibri-board-'));
const dbPath = join(folder, 'colibri.db');
try {
  await buildAll();
  await play();
  const lines = (await renderBoard()).split('\n');
  writeFileSync(`${root}docs/board.svg`, drawTerminal(['$ colibri board', '', ...lines], COLUMNS));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The calls that fill the board. */
async function play() {
  const [ada, claude, codex, gemini] = await Promise.all(['ada', 'claude', 'codex', 'gemini'].map(connect));
  const project = 'webshop';
  const create = (title, more = {}) => ada('task_create', { title, project, status: 'todo', ...more });
  await create('Move sessions to the new store', { priority: 'high' });
  await create('Rotate the signing keys before they expire', { priority: 'critical' });
  await create('Retry webhooks with a growing pause', { depends_on: ['T-0001'] });
  await create('Refund twice pays once: find out why', { priority: 'critical' });
  await create('Cache product pages for a minute');
  await create('Receipts in Japanese', { priority: 'high', estimate_hours: 5 });
  await create('Upgrade the payment library', { priority: 'high' });
  await create('Dark mode for the admin pages', { status: 'backlog', priority: 'low' });
  await create('Export orders as CSV', { status: 'backlog' });
  await create('Remove the old import job', { priority: 'low' });
  await create('Load test before the sale', { depends_on: ['T-0005', 'T-0007'] });
  await create('Second newsletter provider');

  await claim(claude, 'T-0001', 60);
  await claim(codex, 'T-0004', 30);
  await claim(gemini, 'T-0007', 20);
  await gemini('task_update', {
    task_id: 'T-0007',
    status: 'blocked',
    blocked_reason: 'the vendor has not sent the new API key',
  });
  await claim(claude, 'T-0005', 90);
  await claude('task_update', { task_id: 'T-0005', status: 'review' });
  await claim(codex, 'T-0010', 0);
  await codex('audit_session_start', { task_id: 'T-0010', auditor_id: 'codex' });
  await codex('thought_record', { task_id: 'T-0010', type: 'decision', content: 'Nothing has called it since May.' });
  await codex('task_update', { task_id: 'T-0010', status: 'review', progress: 100 });
  await ada('task_update', { task_id: 'T-0010', status: 'done' });
  await ada('task_update', { task_id: 'T-0012', status: 'cancelled' });
  await Promise.all([ada, claude, codex, gemini].map((agent) => agent.close()));
}

async function claim(agent, task_id, progress) {
  await agent('task_update', { task_id, status: 'in_progress', progress });
}

async function connect(name) {
  const client = new Client({ name, version: '1' });
  const env = { ...process.env, COLIBRI_DB_PATH: dbPath, COLIBRI_LOG_LEVEL: 'error' };
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [`${root}dist/colibri.cjs`], env }));
  const agent = async (tool, input) => {
    const { isError, content } = await client.callTool({ name: tool, arguments: input });
    if (isError) throw new Error(content[0].text);
  };
  agent.close = () => client.close();
  return agent;
}

/** Replaces the times of the calls above, which were made in one second, with those of a day of work. */
function withTimes(board) {
  const columns = board.columns.map((column) => ({ ...column, cards: column.cards.map(withTime) }));
  return { ...board, columns };
}

function withTime(card) {
  const minutes = (Number(card.task_id.slice(2)) * 37) % 300;
  const silence = card.holder === undefined ? {} : { silent_for_s: 60 * (minutes % 20) };
  return { ...card, ...silence, updated_at: new Date(NOW_MS - minutes * 60_000).toISOString() };
}

/** Calls the view functions directly, because the program uses colors only on a terminal. */
async function renderBoard() {
  const { openDatabase, listProjects, readBoards, renderBoards, createStyles, toTerminal } = await loadSources(
    'board',
    `export { openDatabase } from './src/trust/open-database.ts';
     export { listProjects, readBoards } from './src/domains/tasks/board.ts';
     export { renderBoards } from './src/cli/views/board.ts';
     export { createStyles, toTerminal } from './src/terminal-text.ts';`,
  );
  const database = await openDatabase({ mode: 'READONLY', dbPath, durability: 'full', readOnly: true });
  const boards = await database.read(async (reader) => {
    const projects = await listProjects(reader);
    const context = { liveness: database, at: new Date().toISOString(), ttlMs: undefined };
    const read = (project) => readBoards(reader, { project, limit: 8 }, context);
    return (await Promise.all(projects.map(read))).flat();
  });
  await database.close();
  const view = { boards: boards.map(withTimes), other_projects: [] };
  return toTerminal(renderBoards(view, { width: COLUMNS, colors: createStyles(true) }, NOW_MS));
}
