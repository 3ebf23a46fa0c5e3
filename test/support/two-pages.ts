import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { openFile } from './full-ledger.ts';
import { openDesk } from './trail-server.ts';

/**
 * A ledger of two pages of verification in which every call has ended, one of them in another page than it began in, with
 * texts that JSON has to escape. Closed with the tests of the file.
 */
export async function openTwoPages(): Promise<Database> {
  const folder = mkdtempSync(join(tmpdir(), 'colibri-pages-'));
  const path = join(folder, 'colibri.db');
  const desk = await openDesk(path, 'tester "quoted" \u5b57');
  await desk.createTask({ title: 'Strict parser', status: 'todo' });
  await desk.start({ task_id: 'T-0001', auditor_id: 'auditor' });
  for (let number = 1; number <= 180; number += 1) {
    const content = number % 3 === 0 ? `line ${number}\n"quoted" \\ \u5b57 \u{1f426}` : `thought ${number}`;
    await desk.record({ task_id: 'T-0001', type: 'decision', content });
    if (number % 45 === 0) await desk.updateTask({ task_id: 'T-0001', progress: number % 100 });
  }
  await desk.finalize({ session_id: 'A-0001' });
  await desk.close();
  const database = await openFile(path);
  afterAll(async () => {
    await database.close();
    rmSync(folder, { recursive: true });
  });
  return database;
}
