import { setTimeout as delay } from 'node:timers/promises';
import { ServerProcess } from '../server-process.ts';
import type { World } from '../world.ts';
import { type Own, toCall } from './calls.ts';
import type { Asked, Journal } from './journal.ts';
import type { Lane, Step } from './script.ts';
import { environmentOf } from './wrong-clock.ts';

/** A server exits by itself after this long, even if a call still waits; clients wait no longer either. */
const SHUTDOWN_MS = 4500;

/** An agent with its server, which is started again whenever it is gone. */
export async function playAgent(world: World, lane: Lane, journal: Journal): Promise<void> {
  const agent = new AgentLane(world, lane, journal);
  for (const [index, step] of lane.steps.entries()) await agent.play(step, index);
  await agent.leave();
}

/** What a server answered until it could record. */
interface Opening {
  readonly pings: Asked[];
  isOpen: boolean;
  wasKilled: boolean;
}

/** Which step of the lane it is, and whether its server has just been started: it opens the ledger first. */
interface Place {
  readonly index: number;
  readonly isNew: boolean;
}

class AgentLane {
  readonly #world: World;
  readonly #lane: Lane;
  readonly #journal: Journal;
  readonly #own: Own = {};
  readonly #openings = new Map<ServerProcess, Opening>();
  #server: ServerProcess | undefined;

  constructor(world: World, lane: Lane, journal: Journal) {
    this.#world = world;
    this.#lane = lane;
    this.#journal = journal;
  }

  async play(step: Step, index: number): Promise<void> {
    const isNew = this.#server === undefined;
    const server = this.#server ?? (await this.#start());
    this.#server = server;
    // Standard output is paused before the first answer can come.
    if (step.fault?.startsWith('unread')) server.pauseOutput();
    const calls = this.#send(server, step, { index, isNew });
    await this.#cause(server, step);
    await calls;
    if (server.hasEnded) this.#server = undefined;
  }

  async leave(): Promise<void> {
    const server = this.#server;
    server?.closeInput();
    if (server !== undefined) await this.#expectCleanExit(server, 'the end of its input');
    for (const { pings, isOpen, wasKilled } of this.#openings.values())
      if (wasKilled && !isOpen) for (const ping of pings) ping.mayBeUnrecorded = true;
  }

  async #start(): Promise<ServerProcess> {
    const server = this.#launch();
    if (!(await server.initialize(this.#lane.name))) {
      const { code, signal } = await server.exit;
      throw new Error(`${this.#lane.name}: a server ended with ${signal ?? code} when it started: ${server.errors}`);
    }
    return server;
  }

  #launch(): ServerProcess {
    this.#journal.count('server processes');
    const { program, folder: cwd } = this.#world;
    const server = new ServerProcess({ program, cwd, env: environmentOf(this.#world, this.#lane) });
    const opening: Opening = { pings: [], isOpen: false, wasKilled: false };
    this.#openings.set(server, opening);
    void server.exit.then(({ signal }) => {
      opening.wasKilled = signal === 'SIGKILL';
      for (const line of server.strayLines)
        this.#journal.problems.push(`${this.#lane.name}: standard output has a line that is not a message: ${line}`);
      if (server.unexpected > 0)
        this.#journal.problems.push(`${this.#lane.name}: ${server.unexpected} answers to no request`);
    });
    return server;
  }

  /** Calls run one after the other, so that each waits from the answer of the one before it. */
  async #send(server: ServerProcess, step: Step, { index, isNew }: Place): Promise<void> {
    let sinceMs = performance.now();
    const pauseMs = step.fault === 'stop' || step.fault?.startsWith('unread') ? step.afterMs + step.lastsMs : 0;
    const pending = step.works.map((work, place) => {
      const marker = `${this.#lane.name}:${index}:${place};`;
      const call = toCall(work, marker, this.#journal, this.#own);
      if (call === undefined) throw new Error(`${work.what} is not for agents`);
      const isDisturbed = step.fault !== undefined || (isNew && place === 0);
      const asked = this.#journal.ask({ marker, lane: this.#lane.name, isDisturbed }, call);
      return { asked, reply: server.call(call.tool, call.input) };
    });
    for (const { asked, reply } of pending) {
      const answer = await reply;
      if (answer === undefined) continue;
      const nowMs = performance.now();
      const waitedMs = Math.max(0, nowMs - sinceMs - pauseMs);
      sinceMs = nowMs;
      asked.answer = { outcome: answer.outcome, receipt: answer.receipt, waitedMs, atMs: nowMs };
      this.#learn(asked, answer.data);
      this.#noteOpening(server, asked);
    }
  }

  #learn({ tool }: Asked, data: Readonly<Record<string, unknown>>): void {
    this.#journal.learn(data);
    if (tool === 'task_create' && typeof data['task_id'] === 'string') this.#own.task = data['task_id'];
    if (tool === 'audit_session_start' && typeof data['session_id'] === 'string')
      this.#own.session = data['session_id'];
  }

  /** A server answers pings before it has opened the ledger, and everything else afterwards. */
  #noteOpening(server: ServerProcess, asked: Asked): void {
    const opening = this.#openings.get(server);
    if (opening === undefined) return;
    if (asked.tool === 'server_ping') opening.pings.push(asked);
    else opening.isOpen = true;
  }

  async #cause(server: ServerProcess, { fault, afterMs, lastsMs }: Step): Promise<void> {
    if (fault === undefined) return;
    if (fault !== 'unread') this.#journal.count(FAULT_NAMES[fault]);
    await delay(afterMs);
    switch (fault) {
      case 'kill':
        server.signal('SIGKILL');
        await server.exit;
        return;
      case 'term':
        server.signal('SIGTERM');
        return this.#expectCleanExit(server, 'SIGTERM');
      case 'stop':
        server.signal('SIGSTOP');
        await delay(lastsMs);
        server.signal('SIGCONT');
        return;
      case 'leave':
        server.closeInput();
        return this.#expectCleanExit(server, 'the end of its input');
      case 'unread':
        this.#journal.count(FAULT_NAMES.unread);
        await delay(lastsMs);
        server.resumeOutput();
        return;
      case 'unread-kill':
        await delay(lastsMs);
        server.signal('SIGKILL');
        // Otherwise the pipe, and with it the process, would never be seen to end.
        server.resumeOutput();
        await server.exit;
        return;
      case 'hang-up':
        server.closeOutput();
        server.closeInput();
        await this.#expectExit(server, 'a client that hung up');
        return;
      case 'kill-starting': {
        const starting = this.#launch();
        await delay(lastsMs % 400);
        starting.signal('SIGKILL');
        await starting.exit;
        return;
      }
    }
  }

  async #expectCleanExit(server: ServerProcess, cause: string): Promise<void> {
    const code = await this.#expectExit(server, cause);
    if (code !== undefined && code !== 0)
      this.#journal.problems.push(`${this.#lane.name}: exit code ${code} after ${cause}: ${server.errors}`);
  }

  /** The exit code; undefined, and a problem, for a server that does not end. */
  async #expectExit(server: ServerProcess, cause: string): Promise<number | null | undefined> {
    const timeout = new AbortController();
    // Twenty times its own limit, because many processes share the machine.
    const late = delay(20 * SHUTDOWN_MS, undefined, { signal: timeout.signal }).catch(() => undefined);
    const exit = await Promise.race([server.exit, late]);
    timeout.abort();
    if (exit !== undefined) return exit.code;
    this.#journal.problems.push(`${this.#lane.name}: the server did not end after ${cause}`);
    server.signal('SIGKILL');
    await server.exit;
    return undefined;
  }
}

const FAULT_NAMES = {
  kill: 'kills (SIGKILL)',
  term: 'SIGTERM',
  stop: 'SIGSTOP and SIGCONT',
  leave: 'inputs closed during calls',
  unread: 'pauses in which the client did not read',
  'unread-kill': 'kills (SIGKILL)',
  'hang-up': 'outputs closed during calls',
  'kill-starting': 'kills (SIGKILL)',
} as const;
