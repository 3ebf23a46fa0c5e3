import { randomUUID } from 'node:crypto';
import { openPostgres } from '../../../src/db/postgres/database.ts';
import { openSqlite } from '../../../src/db/sqlite/database.ts';

/**
 * A process that uses the port of a database: says one line on stdout for each step that it has done, and takes one
 * command a line on stdin.
 */
const [location = '', name = ''] = process.argv.slice(2);
const options = { readOnly: false, durability: 'relaxed', busyTimeoutMs: 60_000 } as const;
const open = () =>
  location.startsWith('postgres:')
    ? openPostgres({ ...options, url: location, statementTimeoutMs: 60_000 })
    : openSqlite({ ...options, path: location });
const database = await open();
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const commands: Readonly<Record<string, (argument: string) => Promise<void>>> = {
  enlist: (processId) => database.enlist(processId),
  'come-and-go': async (times) => {
    for (let time = 0; time < Number(times); time += 1) {
      const guest = await open();
      await guest.enlist(randomUUID());
      await guest.close();
    }
  },
  insert: async (text) => {
    await database.write({ durable: false }, (transaction) =>
      transaction.query('INSERT INTO words (word) VALUES ($1)', [text]),
    );
  },
  hold: async () => {
    await database.write({ durable: false }, async (transaction) => {
      await transaction.query('SELECT 1 AS one');
      say('held');
      await nextCommand('release');
    });
  },
  hammer: async (rounds) => {
    for (let round = 0; round < Number(rounds); round += 1) {
      await database.write({ durable: false }, async (transaction) => {
        const [row] = await transaction.query<{ n: number }>('SELECT n FROM counter');
        await transaction.query('UPDATE counter SET n = $1', [(row?.n ?? 0) + 1]);
      });
    }
  },
  close: () => database.close(),
};

const waiting: string[] = [];
let wake: () => void = () => undefined;
process.stdin.setEncoding('utf8');
process.stdin.on('data', (text: string) => {
  waiting.push(...text.split('\n').filter((line) => line !== ''));
  wake();
});
process.stdin.on('end', () => process.exit(0));

async function nextCommand(expected?: string): Promise<string> {
  while (waiting.length === 0) await new Promise<void>((resolve) => (wake = resolve));
  const command = waiting.shift() ?? '';
  if (expected !== undefined && command !== expected) throw new Error(`expected ${expected}, got ${command}`);
  return command;
}

say(`ready ${name}`);
for (;;) {
  const [command = '', ...rest] = (await nextCommand()).split(' ');
  const run = commands[command];
  if (run === undefined) throw new Error(`unknown command: ${command}`);
  await run(rest.join(' '));
  say(`done ${command}`);
}
