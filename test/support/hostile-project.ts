import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Place } from './cli-project.ts';
import { EVERYTHING_HOSTILE } from './hostile-text.ts';
import { call } from './memory-server.ts';
import { tamperFile } from './trail-raw-file.ts';

/** What a forger writes, by the part of the ledger that carries it. */
const FORGERIES = {
  texts: [
    ...append('tasks', ['title', 'description', 'assignee', 'created_by', 'updated_by', 'project']),
    `UPDATE tasks SET blocked_reason = '${EVERYTHING_HOSTILE}' WHERE task_no = 2;`,
    `UPDATE tasks SET labels = json_array('${EVERYTHING_HOSTILE}');`,
    ...append('thoughts', ['content', 'type', 'recorded_by']),
    `UPDATE thoughts SET extras = json_object('${EVERYTHING_HOSTILE}', '${EVERYTHING_HOSTILE}');`,
    ...append('sessions', ['auditor_id', 'scope']),
    `UPDATE sessions SET reason = '${EVERYTHING_HOSTILE}';`,
    ...append('task_counts', ['project']),
    `UPDATE counters SET name = name || ' ${EVERYTHING_HOSTILE}' WHERE name LIKE '%default';`,
    ...append('calls', ['tool', 'actor', 'outcome', 'arguments']),
  ],
  states: [
    ...append('tasks', ['status', 'workflow', 'updated_at', 'created_at']),
    ...append('calls', ['entered_at', 'exited_at', 'process_id', 'salt']),
    ...append('sessions', ['started_at', 'root', 'salt']),
    ...append('thoughts', ['hash', 'recorded_at']),
    ...append('task_events', ['content', 'salt']),
  ],
  entries: [
    ...append('ledger_entries', ['kind']),
    `UPDATE ledger_entries SET entry = replace(entry, '"v":', '"${JSON.stringify(EVERYTHING_HOSTILE).slice(1, -1)}":0,"v":');`,
    `INSERT INTO ledger_entries VALUES (1000, 'thought', '${EVERYTHING_HOSTILE}');`,
  ],
  names: [
    `CREATE TABLE "t ${EVERYTHING_HOSTILE}" (a TEXT);`,
    `CREATE INDEX "i ${EVERYTHING_HOSTILE}" ON tasks (title);`,
    `CREATE VIEW "v ${EVERYTHING_HOSTILE}" AS SELECT 1;`,
    `CREATE TRIGGER "g ${EVERYTHING_HOSTILE}" AFTER INSERT ON tasks BEGIN SELECT 1; END;`,
    `INSERT INTO counters VALUES ('${EVERYTHING_HOSTILE}', 1);`,
  ],
} as const;

export type Forgery = keyof typeof FORGERIES;

/** Honest work of one agent: two tasks, one of which is finished and sealed. */
export async function createHonestProject(): Promise<Place> {
  const place = new Place({ isShared: true });
  const agent = await place.openAgent('alice');
  const granted = async (tool: string, input: Record<string, unknown>) => {
    const { isError, text } = await call(agent, tool, input);
    if (isError) throw new Error(`${tool}: ${text}`);
  };
  await granted('task_create', { title: 'first', status: 'todo', labels: ['a'] });
  await granted('task_create', { title: 'second', status: 'todo' });
  await granted('audit_session_start', { task_id: 'T-0001', auditor_id: 'alice', reason: 'why' });
  await granted('thought_record', { task_id: 'T-0001', type: 'decision', content: 'because', branch: 'main' });
  await granted('merkle_finalize', { session_id: 'A-0001' });
  await agent.close();
  return place;
}

/** A copy with forged rows, configuration files and skills. */
export async function createHostileProject(honest: Place, forgery: Forgery): Promise<Place> {
  const place = new Place({ like: honest });
  await tamperFile(place.ledger, FORGERIES[forgery].join('\n'));
  cpSync(place.ledger, place.path('.colibri/backup.db'));
  const json = JSON.stringify({ mcpServers: { [EVERYTHING_HOSTILE]: { command: EVERYTHING_HOSTILE } } });
  // As JSON.stringify leaves them, and as nobody would: raw in a comment and in a string.
  const raw = EVERYTHING_HOSTILE.replaceAll(/["\\\n\r]/g, ' ');
  put(
    place,
    '.cursor/mcp.json',
    `{\n  // ${raw}\n  "mcpServers": {\n    "x": {"command": "${visible(raw)}"}\n  }\n}\n`,
  );
  put(place, '.mcp.json', json);
  put(place, 'CLAUDE.md', '');
  const head = `name: "${visible(raw)}"\ndescription: "${visible(raw)}"`;
  put(place, `.agents/skills/x\u001b[2J\u202e\nFORGED/SKILL.md`, `---\n${head}\n---\n${raw}\n`);
  return place;
}

/** What may stand raw in a string of JSON or YAML: everything but C0. */
function visible(text: string): string {
  return Array.from(text)
    .filter((character) => character >= ' ')
    .join('');
}

function put(place: Place, path: string, text: string): void {
  mkdirSync(dirname(join(place.folder, path)), { recursive: true });
  writeFileSync(join(place.folder, path), text);
}

function append(table: string, columns: readonly string[]): string[] {
  return columns.map((column) => `UPDATE ${table} SET ${column} = ${column} || ' ${EVERYTHING_HOSTILE}';`);
}
