import * as z from 'zod';
import { readConfig } from '../../../src/config.ts';
import { newTask } from '../../../src/domains/tasks/change.ts';
import { insertTask, projectCounter } from '../../../src/domains/tasks/repository.ts';
import { formatTaskId } from '../../../src/ids.ts';
import { nextNumbers } from '../../../src/ledger/counters.ts';
import { boot } from '../../../src/runtime/boot.ts';
import { createShutdown } from '../../../src/runtime/shutdown.ts';
import { createServer, registerColibriTool, start } from '../../../src/server.ts';
import { StdioTransport } from '../../../src/wire/stdio.ts';

/** A server on a real ledger whose tools misbehave, to be run as a process of its own. */
const [maxPages] = process.argv.slice(2);
const config = readConfig();
const transport = new StdioTransport(process.stdin, process.stdout);
const server = createServer({
  transport,
  mode: config.mode,
  agentId: config.agentId ?? config.agentBase,
  version: '0.0.0-fixture',
  boot: async ({ chain }) => {
    const booted = await boot(config, chain.log, console.error);
    // SQLite's own way to a full disk.
    if (maxPages !== undefined) {
      await booted.database?.read((reader) => reader.query(`PRAGMA max_page_count = ${Number(maxPages)}`));
    }
    return booted;
  },
});
const noInput = z.strictObject({});

registerColibriTool(server, 'throw_string', { inputSchema: noInput, access: 'none' }, () => {
  throw 'just a string';
});
registerColibriTool(server, 'throw_after_change', { inputSchema: noInput }, async (_input, { db }) => {
  await db.run('CREATE TABLE notes (note TEXT)');
  throw new Error('after the change');
});
registerColibriTool(server, 'never_ends', { inputSchema: noInput, access: 'none' }, () => new Promise(() => undefined));
/** Stores a text in a way that verification accepts: as a task. */
registerColibriTool(
  server,
  'note',
  { inputSchema: z.strictObject({ text: z.string() }) },
  async ({ text }, { db, actor, at }) => {
    const [taskNo, sequence] = await nextNumbers(db, 'task', projectCounter('notes'));
    const identity = {
      task_id: formatTaskId(taskNo),
      sequence,
      project: 'notes',
      workflow: 'board',
      at,
      actor,
    } as const;
    await insertTask(db, newTask({ title: 'note', description: text }, identity), { unmet: 0 });
    return { stored: text.length };
  },
);

const shutDown = createShutdown(server.chain.log, () => server.stop());
transport.onend = () => shutDown('the client closed the connection');
await start(server);
