import { openDatabase } from '../../src/db/open.ts';
import { CallRecorder } from '../../src/ledger/calls/recorder.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { processIdOf } from './process-id.ts';

const AT = '2026-01-01T00:00:00.000Z';

/** An honest ledger of so many calls that a command can be met in the middle of its work on it. */
export async function createLargeLedger(path: string, calls: number): Promise<void> {
  const database = await openDatabase({ mode: 'FULL', dbPath: path, durability: 'relaxed', readOnly: false });
  await openLedger(database, 'filler', AT);
  const log = new CallRecorder(database, processIdOf('filler'));
  const argumentsText = JSON.stringify({ note: 'x'.repeat(500) });
  for (let count = 0; count < calls; count += 1) {
    const call = { tool: 'server_ping', actor: 'filler', at: AT, correlationId: String(count) };
    await log.enter({ ...call, args: {}, timestamp: 0, argumentsText });
    await log.exit({ ...call, durationMs: 0, outcome: 'ok', answerText: '' });
  }
  await database.close();
}
