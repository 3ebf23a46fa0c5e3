import { Client } from 'pg';

/**
 * The baseline: a plain client that writes the rows of one task_create, into the same tables with the same indexes, in
 * one durable transaction behind one lock, with as few round trips as possible. It checks and hashes nothing. Prints
 * "ready", waits for a line on stdin, works, prints "done".
 */
const [url = '', warmUp = '0', transactions = '0'] = process.argv.slice(2);
const client = new Client({ connectionString: url, pipeline: true });
await client.connect();

const names = new Map<string, string>();
function query(text: string, values: readonly unknown[] = []) {
  const name = names.get(text) ?? `bench_${names.size}`;
  names.set(text, name);
  return client.query<{ size: string }>({ name, text, values: [...values] });
}

const entry = 'x'.repeat(330);
const at = '2026-04-08T23:15:00.000Z';
const hash = 'a'.repeat(64);

await work(Number(warmUp));
console.log('ready');
await new Promise((resolve) => process.stdin.once('data', resolve));
await work(Number(transactions));
console.log('done');
await client.end();
process.exit(0);

async function work(count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) await insertRows();
}

async function insertRows(): Promise<void> {
  void client.query('BEGIN');
  const { rows } = await query('SELECT size FROM ledger_head WHERE id = 1 FOR UPDATE');
  const size = Number(rows[0]?.size);
  void query('INSERT INTO ledger_entries (idx, entry, salt, content) VALUES ($1, $2, $3, $4)', [
    size,
    entry,
    hash.slice(32),
    '{"project":"bench","title":"Measure what one call costs"}',
  ]);
  for (const idx of [size + 1, size + 2])
    void query('INSERT INTO ledger_entries (idx, entry) VALUES ($1, $2)', [idx, entry]);
  void query('INSERT INTO call_exits (sequence_no, exit_idx) VALUES ($1, $2)', [size, size + 2]);
  void query(
    `INSERT INTO tasks VALUES ($1, $1, $4, 'bench', $1, 'board', 'backlog', 1, 0, $2, '', 1, 0, 'unassigned', '[]', NULL, NULL,
       '[]', NULL, 1, $3, 'bench', $3, 'bench')`,
    [size, 'Measure what one call costs', Date.parse(at), hash.slice(32)],
  );
  void query('INSERT INTO task_search (task_no, words) VALUES ($1, $2)', [size, 'measure what one call costs']);
  void query("UPDATE counters SET value = value + 1 WHERE name IN ('task', 'project/bench')");
  void query("UPDATE task_counts SET tasks = tasks + 1 WHERE project = 'bench'");
  void query('UPDATE ledger_head SET size = $1, tail = $2 WHERE id = 1', [size + 3, hash]);
  await client.query('COMMIT');
}
