import { readFileSync } from 'node:fs';
import { Server, type Tool } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { loadSqlite } from '../../src/db/sqlite/driver.ts';

/** What the echo server replays: the definition and one answer of the measured tool, byte for byte. */
export interface Replay {
  readonly definition: Tool;
  readonly structuredContent: Record<string, unknown>;
}

/** With a second argument every call also makes one durable commit in an SQLite file of that name. */
const [replayPath = '', databasePath] = process.argv.slice(2);
const { definition, structuredContent } = JSON.parse(readFileSync(replayPath, 'utf8')) as Replay;
const commit = databasePath === undefined ? () => undefined : await openCommitter(databasePath);

const server = new Server({ name: 'echo', version: '0' }, { capabilities: { tools: {} } });
server.setRequestHandler('tools/list', () => ({ tools: [definition] }));
server.setRequestHandler('tools/call', () => {
  commit();
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
});
await server.connect(new StdioServerTransport());

/** The same library as Colibri's on this version of Node, and nothing around it. */
async function openCommitter(path: string): Promise<() => void> {
  const database = (await loadSqlite()).open(path, { readOnly: false });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE rows (title TEXT NOT NULL)');
  const insert = database.prepare('INSERT INTO rows (title) VALUES (?)');
  return () => {
    insert.all(['one small row']);
  };
}
