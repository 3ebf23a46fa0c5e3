import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withCleanUp } from '../support/clean-up.ts';
import { openAgent } from './agent.ts';
import { play, type Step } from './scenario.ts';

/** Far more than it takes; whoever waits this long meets a server that does not answer. */
const TIMEOUT_MS = 60_000;

/** Sets the stage, tells the story, clears the stage. Returns the folder, which is gone unless it is to be kept. */
export async function perform(keep: boolean, tell: (step: Step) => void): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'colibri-demo-'));
  const ledger = join(folder, '.colibri', 'colibri.db');
  const alice = openAgent('alice', ledger, folder);
  const bob = openAgent('bob', ledger, folder);
  const dismiss = (): void => {
    alice.kill();
    bob.kill();
  };
  const timer = setTimeout(dismiss, TIMEOUT_MS);
  const clear = (): void => {
    clearTimeout(timer);
    dismiss();
    // A server that was killed may still be writing its last file.
    if (!keep) rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
  };
  await withCleanUp(clear, async () => {
    await Promise.all([alice.connect(), bob.connect()]);
    for await (const step of play({ alice, bob, ledger, folder })) tell(step);
    await Promise.all([alice.end(), bob.end()]);
  });
  return folder;
}
