import type { ReadContext } from '../context.ts';
import { ColibriError } from '../errors.ts';
import type { Outcome } from '../tool.ts';
import type { Chain } from './call.ts';
import { cancellableReader } from './cancellable-reader.ts';
import { failed } from './outcome.ts';

/**
 * Reads one snapshot of the ledger outside a call: for resources and prompts. Such a read changes nothing and leaves
 * no entry. It waits for the boot and for the running call, so that it sees every change acknowledged to the client.
 */
export async function readSnapshot<Result>(
  { lock, runtime, nowMs, log }: Chain,
  { actor, signal }: Pick<ReadContext, 'actor' | 'signal'>,
  work: (context: ReadContext) => Promise<Result>,
): Promise<Outcome<Result>> {
  await runtime.passGate(false);
  return lock.run(async () => {
    try {
      const { database } = runtime;
      if (database === undefined) throw notOpen();
      const at = runtime.now();
      const data = await database.read(async (snapshot) => {
        const db = cancellableReader(snapshot, signal, nowMs);
        // Before the first call of this process its client's name may be that of another agent.
        const found = await runtime.findActor(db, actor);
        return work({ ...found, signal, at, progress: () => undefined, liveness: database, db });
      });
      return { ok: true, data };
    } catch (thrown) {
      const failure = failed(thrown, 'resource');
      if (failure.error.code === 'INTERNAL') log('error', 'bug', { error: failure.thrown });
      return failure;
    }
  }, signal);
}

function notOpen(): ColibriError {
  const advice = 'call server_health to see what is wrong';
  return new ColibriError('ERR_INIT_FAILED', 'the ledger is not open', {}, { advice });
}
