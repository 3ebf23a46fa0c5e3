import { mkdtempSync, statSync } from 'node:fs';
import { openDatabase } from '../src/db/open.ts';
import { createTaskTools } from '../src/domains/tasks/tools.ts';
import { ActionLog } from '../src/ledger/action-log.ts';
import { openLedger } from '../src/ledger/open.ts';

const dir = mkdtempSync('/tmp/cb-');
const p = dir + '/c.db';
const db = await openDatabase({ mode: 'FULL', dbPath: p, durability: 'relaxed', readOnly: false });
await openLedger(db, 'a', 'x');
await db.enlist('p');
const log = new ActionLog(db, 'p');
const wal = () => Math.round((statSync(p + '-wal').size - 32) / 4120);
const create = createTaskTools({ project: 'p', workflow: 'board' })[0]!;
for (let i = 0; i < 30; i++)
  await db.write(
    { durable: false },
    (tx) =>
      create.handle({ title: 'hello ' + i }, {
        db: tx,
        actor: 'x',
        at: new Date().toISOString(),
        progress: () => {},
      } as never) as Promise<unknown>,
  );
await db.write({ durable: false }, async (tx) => {
  await tx.query('SELECT 1');
});
let base = wal();
console.log('wal', base);
const ev = { tool: 'x', args: {}, timestamp: 0, correlationId: 'c', actor: 'a', at: 'now', argumentsText: '{}' };
for (let i = 0; i < 3; i++) {
  await log.enter({ ...ev, correlationId: 'c' + i });
  console.log('enter', wal() - base);
  base = wal();
  await db.write(
    { durable: false },
    (tx) =>
      create.handle({ title: 'hello ' + i }, {
        db: tx,
        actor: 'x',
        at: new Date().toISOString(),
        progress: () => {},
      } as never) as Promise<unknown>,
  );
  console.log('create', wal() - base);
  base = wal();
  await log.exit({
    tool: 'x',
    correlationId: 'c' + i,
    durationMs: 1,
    actor: 'a',
    at: 'n',
    outcome: 'ok',
    answerText: 'x',
  });
  console.log('exit', wal() - base);
  base = wal();
}
await db.close();
