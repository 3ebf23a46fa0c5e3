import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withCleanUp } from '../clean-up.ts';
import { type Agent, openAgent } from './agent.ts';
import { play, type Step } from './story.ts';

/** Sets the stage, tells the story, clears the stage. Returns the folder, which is gone unless it is to be kept. */
export async function perform(keep: boolean, tell: (step: Step) => void): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'colibri-demo-'));
  const agents: Agent[] = [];
  const clear = (): void => {
    for (const agent of agents) agent.kill();
    if (!keep) rmSync(folder, { recursive: true, force: true });
  };
  await withCleanUp(clear, async () => {
    const ledger = join(folder, '.colibri', 'colibri.db');
    const [alice, bob] = await Promise.all(
      ['alice', 'bob'].map(async (name) => {
        const agent = await openAgent(name, ledger, folder);
        agents.push(agent);
        return agent;
      }) as [Promise<Agent>, Promise<Agent>],
    );
    for await (const step of play({ alice, bob, ledger, folder })) tell(step);
    await Promise.all(agents.map((agent) => agent.end()));
  });
  return folder;
}
