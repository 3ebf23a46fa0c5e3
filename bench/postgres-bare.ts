import pg from 'pg';

/**
 * The floor: a plain client that inserts the rows of one call in one durable transaction behind one lock, and does
 * nothing else. Says "ready", waits for a line on stdin, works, says "done".
 */
const [url = '', transactions = '0', width = '1'] = process.argv.slice(2);
const client = new pg.Client({ connectionString: url, pipeline: true });
await client.connect();

const lock = { name: 'lock', text: 'SELECT size FROM bench_head WHERE id = 1 FOR UPDATE' };
const head = { name: 'head', text: 'UPDATE bench_head SET size = size + 1 WHERE id = 1' };
const insert = { name: 'insert', text: 'INSERT INTO bench_rows (idx, kind, entry) VALUES ($1, $2, $3)' };
const text = 'x'.repeat(300);

console.log('ready');
await new Promise((resolve) => process.stdin.once('data', resolve));
for (let transaction = 0; transaction < Number(transactions); transaction += 1) {
  // The first round trip learns the next index, the second writes and commits.
  void client.query('BEGIN');
  const { rows } = await client.query<{ size: string }>(lock);
  const size = Number(rows[0]?.size);
  for (let row = 0; row < Number(width); row += 1)
    void client.query({ ...insert, values: [size * Number(width) + row, 'bench', text] });
  void client.query(head);
  await client.query('COMMIT');
}
console.log('done');
await client.end();
process.exit(0);
