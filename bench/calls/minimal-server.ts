import * as z from 'zod';
import { readConfig } from '../../src/config.ts';
import { boot } from '../../src/runtime/boot.ts';
import { createServer } from '../../src/server.ts';
import { defineTool } from '../../src/tool.ts';
import { StdioTransport } from '../../src/wire/stdio.ts';

/** The five stages with the smallest possible tool: the cost of the stages themselves. */
const config = readConfig();
const transport = new StdioTransport(process.stdin, process.stdout);
const server = createServer({
  transport,
  version: '0.0.0-bench',
  mode: config.mode,
  logLevel: 'warn',
  boot: async ({ chain }) => {
    const booted = await boot(config, chain.log, console.error);
    await booted.database?.write({ durable: true }, (transaction) =>
      transaction.run(
        'CREATE TABLE bench_rows (row_id INTEGER PRIMARY KEY, title TEXT NOT NULL, project TEXT NOT NULL)',
      ),
    );
    return booted;
  },
});

server.registerColibriTool(
  defineTool({
    name: 'bench_write',
    description: 'Appends one small row.',
    inputSchema: z.strictObject({ title: z.string().max(256), project: z.string().max(64) }),
    outputSchema: z.object({ row_id: z.int(), created_at: z.string() }),
    access: 'write',
    handle: async ({ title, project }, { db, at }) => {
      const [row] = await db.query<{ row_id: number }>(
        'INSERT INTO bench_rows (title, project) VALUES ($1, $2) RETURNING row_id',
        [title, project],
      );
      return { row_id: row?.row_id, created_at: at };
    },
  }),
);

server.registerColibriTool(
  defineTool({
    name: 'bench_read',
    description: 'Reads one row.',
    inputSchema: z.strictObject({ row_id: z.int() }),
    outputSchema: z.object({ row_id: z.int(), title: z.string(), project: z.string() }),
    access: 'read',
    handle: async ({ row_id }, { db }) => {
      const [row] = await db.query('SELECT row_id, title, project FROM bench_rows WHERE row_id = $1', [row_id]);
      return row;
    },
  }),
);

transport.onend = () => {
  void server.stop();
};
await server.start();
