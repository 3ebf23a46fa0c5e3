import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withCleanUp } from '../support/clean-up.ts';
import { openAgent } from './agent.ts';
import { playScenario, type Step } from './scenario.ts';

/** Far more than the demo takes, so a server that needs longer hangs. */
const TIMEOUT_MS = 60_000;

/** Runs the scenario in a temporary folder. Returns the path of the folder, which is removed unless `keep` is set. */
export async function runDemo(keep: boolean, report: (step: Step) => void): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'colibri-demo-'));
  const ledger = join(folder, '.colibri', 'colibri.db');
  const alice = openAgent('alice', ledger, folder);
  const bob = openAgent('bob', ledger, folder);
  const killAgents = (): void => {
    alice.kill();
    bob.kill();
  };
  const timer = setTimeout(killAgents, TIMEOUT_MS);
  const cleanUp = (): void => {
    clearTimeout(timer);
    killAgents();
    // A killed server may still be writing its last file, so removal is retried.
    if (!keep) rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
  };
  await withCleanUp(cleanUp, async () => {
    await Promise.all([alice.connect(), bob.connect()]);
    for await (const step of playScenario({ alice, bob, ledger, folder })) report(step);
    await Promise.all([alice.end(), bob.end()]);
  });
  return folder;
}
