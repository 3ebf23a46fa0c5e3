import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Failure } from '../../support/agent.ts';
import { type ClientProcess, launchClient } from '../../support/clients/client-processes.ts';
import { tempFolder } from '../../support/folders.ts';
import { seededRandom } from '../../support/random.ts';

export interface CrewOptions {
  readonly seed: number;
  readonly agents: number;
  readonly tasks: number;
  /** How the ledger is named in the environment of a server. */
  readonly place: Readonly<Record<string, string>>;
  readonly ttl: string;
  readonly ttlMs: number;
  /** How many agents are killed, stopped or restarted while the crew works. */
  readonly accidents: number;
}

const HOUR_MS = 3_600_000;

/** Refusals that an agent of a crew has to expect. */
const EXPECTED = new Set([
  'ERR_CLAIM_HELD',
  'ERR_CLAIM_LOST',
  'ERR_INVALID_TRANSITION',
  'ERR_SESSION_EXISTS',
  'ERR_WRITEBACK_REQUIRED',
]);

/**
 * Agents that work off tasks with dependencies, each through a server process of its own, while processes are killed,
 * stopped and restarted. The wall clock of each agent is wrong by hours, and jumps. The seed decides what happens to
 * whom.
 */
export class SimulatedCrew {
  readonly #options: CrewOptions;
  readonly #random: () => number;
  readonly #members: Member[] = [];
  readonly #folder = tempFolder();
  /** A minute early, so that no time is before it. */
  readonly #startMs = Date.now() - 60_000;
  readonly #clockBaseMs = Date.now() - Number(process.hrtime.bigint() / 1_000_000n);
  #isOver = false;
  /** What happened to the servers. */
  readonly accidents = { kills: 1, restarts: 0, stops: 0 };
  /** Refusals that no honest agent should get. */
  readonly surprises: Failure[] = [];

  constructor(options: CrewOptions) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
    writeFileSync(join(this.#folder, 'wrong-clock.cjs'), WRONG_CLOCK);
  }

  /** A time that an agent stated, on the clock of the ledger. All errors are whole hours, and no run takes one. */
  trueTimeOf(at: string): number {
    const since = (Date.parse(at) - this.#startMs) % HOUR_MS;
    return this.#startMs + (since < 0 ? since + HOUR_MS : since);
  }

  async run(): Promise<void> {
    const { agents, accidents } = this.#options;
    for (let number = 0; number < agents; number += 1)
      this.#members.push(new Member(`agent-${number}`, this.#pick(7) - 9));
    await Promise.all(this.#members.map((member) => this.#launch(member)));
    await this.#plan();
    const lost = await this.#lose(this.#members.at(-1) as Member);
    // The claim lapses by a time within its last call, which the referee does not know. The first poll comes later for
    // certain.
    await delay(this.#options.ttlMs + 50);
    const working = this.#members.filter((member) => member !== lost).map((member) => this.#work(member));
    for (let count = 0; count < accidents && !this.#isOver; count += 1) {
      await delay(100 + this.#pick(200));
      await this.#cause(this.#members[this.#pick(agents)] as Member);
    }
    await Promise.all(working);
    // The last accidents can happen to agents that have no work left.
    await Promise.all(this.#members.map(({ recovering }) => recovering));
    await Promise.all(this.#members.flatMap(({ process }) => process?.close() ?? []));
  }

  /** One agent dies with a task in its hands and never comes back. */
  async #lose(member: Member): Promise<Member> {
    const agent = member.process as ClientProcess;
    const { next_actions } = await agent.nextActions({ limit: 1 });
    await agent.updateTask({ task_id: next_actions[0]?.task_id, status: 'in_progress' });
    member.isDown = true;
    await agent.kill();
    return member;
  }

  /** A task waits for up to two of the ten before it. */
  async #plan(): Promise<void> {
    const planner = this.#members[0]?.process as ClientProcess;
    const ids: string[] = [];
    for (let number = 0; number < this.#options.tasks; number += 1) {
      const near = ids.slice(-10);
      const depends_on = [...new Set([this.#pick(20), this.#pick(20)].flatMap((index) => near[index] ?? []))];
      ids.push((await planner.createTask({ title: `task ${number}`, status: 'todo', depends_on })).task_id);
    }
  }

  async #launch(member: Member): Promise<void> {
    const { place, ttl } = this.#options;
    member.process = await launchClient('crew', this.#folder, {
      ...place,
      COLIBRI_AGENT_ID: member.name,
      COLIBRI_CLAIM_TTL: ttl,
      NODE_OPTIONS: `--require ${join(this.#folder, 'wrong-clock.cjs')}`,
      CLOCK_ERROR_HOURS: String(member.clockErrorHours),
      // The clock of a ledger in a file is the monotonic one of the machine, that of a database server its wall clock.
      ...(place['COLIBRI_DB_PATH'] === undefined ? {} : { CLOCK_BASE_MS: String(this.#clockBaseMs) }),
    });
  }

  /** Kills, stops or restarts one server. Its client continues as if nothing had happened. */
  async #cause(member: Member): Promise<void> {
    const { process: server } = member;
    if (server === undefined || member.isDown) return;
    member.isDown = true;
    const kind = this.#pick(3);
    const pauseMs = this.#pick(2 * this.#options.ttlMs);
    const recover = async () => {
      this.accidents[(['kills', 'restarts', 'stops'] as const)[kind] as 'kills'] += 1;
      if (kind === 0) await server.kill();
      if (kind === 1) await server.close();
      if (kind === 2) process.kill(server.pid, 'SIGSTOP');
      await delay(pauseMs);
      if (kind === 2) process.kill(server.pid, 'SIGCONT');
      else await this.#launch(member);
      member.isDown = false;
    };
    member.recovering = recover();
  }

  async #work(member: Member): Promise<void> {
    while (!this.#isOver) {
      await member.recovering;
      try {
        await this.#workOn(member, member.process as ClientProcess);
      } catch (error) {
        // The server is gone: the client starts another one.
        if (!member.isDown) throw error;
      }
    }
    await member.recovering;
  }

  /** One round: first what the agent already holds, then what is offered, then what waits for its last step. */
  async #workOn(member: Member, agent: ClientProcess): Promise<void> {
    const own = await agent.listTasks({ assignee: member.name, status: ['in_progress'], limit: 5 });
    if (own.tasks[0] !== undefined) return this.#finish(agent, own.tasks[0].task_id, undefined);
    const { next_actions } = await agent.nextActions({ limit: 100 });
    // What others left behind comes first, so that the referee can tell a lapsed task that the queue did not offer.
    const lapsed = next_actions.filter((task) => task.lapsed);
    const queue = lapsed.length > 0 ? lapsed : next_actions.slice(0, 4);
    const offered = queue[this.#pick(queue.length)];
    if (offered !== undefined) {
      const input = { task_id: offered.task_id, status: 'in_progress' };
      const { data, failure } = await this.#call(agent, 'task_update', input);
      if (failure === undefined) await this.#finish(agent, offered.task_id, (data as { claim?: number }).claim);
      return;
    }
    const { tasks } = await agent.listTasks({ status: ['review'], limit: 5 });
    for (const { task_id } of tasks) await this.#call(agent, 'task_update', { task_id, status: 'done' });
    const open = await agent.listTasks({ status: ['todo', 'in_progress', 'review'], limit: 1 });
    if (open.total_count === 0) this.#isOver = true;
    else await delay(50);
  }

  async #finish(agent: ClientProcess, task_id: string, claim: number | undefined): Promise<void> {
    await this.#call(agent, 'audit_session_start', { task_id, auditor_id: 'referee' });
    const { failure } = await this.#call(agent, 'task_update', { task_id, progress: 50, claim });
    if (failure !== undefined) return;
    await this.#call(agent, 'thought_record', { task_id, type: 'decision', content: 'This is how it is done.' });
    const reviewed = await this.#call(agent, 'task_update', { task_id, status: 'review', claim });
    if (reviewed.failure === undefined) await this.#call(agent, 'task_update', { task_id, status: 'done' });
  }

  async #call(agent: ClientProcess, tool: string, input: Record<string, unknown>) {
    const reply = await agent.call(tool, JSON.parse(JSON.stringify(input)) as Record<string, unknown>);
    if (reply.failure !== undefined && !EXPECTED.has(reply.failure.code)) this.surprises.push(reply.failure);
    return reply;
  }

  #pick(count: number): number {
    return Math.floor(this.#random() * count);
  }
}

class Member {
  process: ClientProcess | undefined;
  isDown = false;
  recovering: Promise<void> = Promise.resolve();

  constructor(
    readonly name: string,
    readonly clockErrorHours: number,
  ) {}
}

/** Wrong by hours, and it jumps by an hour or two, forward or back, every 0.7 s. */
const WRONG_CLOCK = `
  const { CLOCK_BASE_MS: base, CLOCK_ERROR_HOURS: hours } = process.env;
  const TrueDate = Date;
  const trueNow = () =>
    base === undefined ? TrueDate.now() : Number(base) + Number(process.hrtime.bigint() / 1000000n);
  const wrongNow = () => {
    const now = trueNow();
    return now + (Number(hours) + (Math.floor(now / 700) % 3)) * 3600000;
  };
  globalThis.Date = class extends TrueDate {
    constructor(...values) { values.length === 0 ? super(wrongNow()) : super(...values); }
    static now() { return wrongNow(); }
  };`;
