import { setTimeout as delay } from 'node:timers/promises';
import type { Reply } from '../../support/agent.ts';
import { seededRandom } from '../../support/random.ts';
import { ClientHost, type HostedServer, type Start } from './host-client.ts';

export interface RestartingCrewOptions {
  readonly seed: number;
  readonly members: number;
  readonly tasks: number;
  /** The chance that a client restarts its server before a call. */
  readonly restartChance: number;
  readonly cwd: string;
  /** How the ledger is named in the environment of a server. */
  readonly place: Readonly<Record<string, string>>;
}

const CLIENT = 'claude-code';

/**
 * Agents of one client in one folder, under the names that they get by default. Their clients start servers directly or
 * through a wrapper, and restart them between two calls: the agent notices nothing and makes its next call.
 */
export class RestartingCrew {
  readonly #options: RestartingCrewOptions;
  readonly #random: () => number;
  readonly #members: Member[] = [];
  /** What must not happen to an agent. */
  readonly problems: string[] = [];
  readonly counts = { restarts: 0, keptNames: 0, newNames: 0 };

  constructor(options: RestartingCrewOptions) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
  }

  async run(): Promise<void> {
    const { members, tasks, cwd, place } = this.#options;
    for (let number = 0; number < members; number += 1)
      this.#members.push(new Member(number % 2 === 0 ? 'directly' : 'through a wrapper', cwd, place));
    try {
      await Promise.all(this.#members.map((member) => member.start()));
      const planner = this.#members[0] as Member;
      for (let number = 0; number < tasks; number += 1)
        await planner.server.createTask({ title: `task ${number}`, status: 'todo' });
      // A name is chosen by the first call.
      for (const { server } of this.#members) await server.listTasks();
      await Promise.all(this.#members.map((member) => this.#work(member)));
      await Promise.all(this.#members.map(({ server }) => server.close()));
    } finally {
      for (const member of this.#members) member.host.end();
    }
  }

  async #work(member: Member): Promise<void> {
    for (;;) {
      const { next_actions } = (await this.#call(member, 'task_next_actions', { limit: 5 })).data as Queue;
      const offered = next_actions[this.#pick(next_actions.length)];
      if (offered === undefined) return;
      const { task_id } = offered;
      const { data, failure } = await this.#call(member, 'task_update', { task_id, status: 'in_progress' });
      if (failure === undefined) await this.#finish(member, task_id, (data as Claimed).claim);
      else if (!['ERR_CLAIM_HELD', 'ERR_INVALID_TRANSITION'].includes(failure.code))
        this.problems.push(`a claim: ${failure.message}`);
    }
  }

  async #finish(member: Member, task_id: string, first: number): Promise<void> {
    let claim = first;
    const change = async (input: object) => {
      // Not every agent sends its token with each update.
      const proof = this.#pick(2) === 0 ? { claim } : {};
      const reply = await this.#call(member, 'task_update', { task_id, ...input, ...proof });
      claim = await this.#prove(member, reply, { task_id, ...input, claim });
    };
    const expectDone = async (tool: string, input: object) => {
      const { failure } = await this.#call(member, tool, { task_id, ...input });
      if (failure !== undefined) this.problems.push(`${tool}: ${failure.message}`);
    };
    await expectDone('audit_session_start', { auditor_id: 'referee' });
    await change({ progress: 50 });
    await expectDone('thought_record', { type: 'decision', content: 'This is how it is done.' });
    await change({ progress: 90 });
    await change({ status: 'review' });
    // In review any agent may act; the token proves that a former holder knows about its own takeover.
    await expectDone('task_update', { status: 'done', claim });
  }

  /** A restarted agent under a new name follows the advice of the refusal. Returns the token of its claim. */
  async #prove(member: Member, reply: Reply, input: { task_id: string; claim: number }): Promise<number> {
    let { data, failure } = reply;
    for (let attempt = 0; failure?.code === 'ERR_CLAIM_HELD' && attempt < 100; attempt += 1) {
      // The last server of the agent may still be about to end.
      if (attempt > 0) await delay(50);
      ({ data, failure } = await member.server.call('task_update', { status: 'in_progress', ...input }));
    }
    if (failure !== undefined) this.problems.push(`an agent lost what it held: ${failure.message}`);
    return (data as Partial<Claimed> | undefined)?.claim ?? input.claim;
  }

  async #call(member: Member, tool: string, input: Record<string, unknown>): Promise<Reply> {
    if (this.#random() < this.#options.restartChance) await this.#restart(member);
    const reply = await member.server.call(tool, input);
    if (reply.failure === undefined) this.#learnName(member, reply.data as NamedAnswer);
    return reply;
  }

  async #restart(member: Member): Promise<void> {
    const { server: last, name: nameBefore } = member;
    const how = (['close', 'kill', 'overlap'] as const)[this.#pick(3)] ?? 'close';
    this.counts.restarts += 1;
    if (how === 'overlap') member.hadTwoServers = true;
    else await last[how]();
    await member.start();
    member.nameBefore = nameBefore;
    if (how === 'overlap') void last.close();
  }

  /** Some answers have the name of the caller. */
  #learnName(member: Member, { holder, recorded_by: name = holder }: NamedAnswer): void {
    if (name === undefined || member.name === name) return;
    if (member.name !== undefined) this.problems.push(`${member.name} became ${name} without a restart`);
    member.name = name;
    if (this.#members.some((other) => other !== member && !other.server.isEnding && other.name === name))
      this.problems.push(`two live servers are ${name}`);
    if (member.nameBefore === undefined) return;
    const hasKept = member.nameBefore === name;
    this.counts[hasKept ? 'keptNames' : 'newNames'] += 1;
    // Its parent tells which agent a server continues, unless two servers of that parent have run at once.
    if (!hasKept && member.how === 'directly' && !member.hadTwoServers)
      this.problems.push(`${member.nameBefore} came back as ${name}`);
  }

  #pick(count: number): number {
    return Math.floor(this.#random() * count);
  }
}

interface Queue {
  readonly next_actions: readonly { readonly task_id: string }[];
}

interface Claimed {
  readonly claim: number;
}

interface NamedAnswer {
  readonly holder?: string;
  readonly recorded_by?: string;
}

class Member {
  readonly host: ClientHost;
  /** The name that the present server has shown. */
  name: string | undefined;
  nameBefore: string | undefined;
  hadTwoServers = false;
  #server: HostedServer | undefined;

  constructor(
    readonly how: Start,
    cwd: string,
    place: Readonly<Record<string, string>>,
  ) {
    this.host = new ClientHost(how, cwd, place);
  }

  get server(): HostedServer {
    if (this.#server === undefined) throw new Error('the client has not started a server yet');
    return this.#server;
  }

  async start(): Promise<void> {
    this.#server = await this.host.start(CLIENT);
    this.name = undefined;
  }
}
