import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { openLedgerReadOnly } from '../../src/ledger/open.ts';
import { openDatabase } from '../../src/trust/open-database.ts';
import { verifyEverything } from '../../src/verification/verify-ledger.ts';
import type { Outcome, Part, Round } from '../part.ts';
import type { Random } from '../random.ts';
import { ServerProcess } from '../server-process.ts';
import { CAN_TRACE, type Fault, faultyLauncher, Injection, listFaults, NO_STRACE, readTrace } from './injection.ts';

export const DISK: Part = {
  name: 'disk',
  says: 'makes each call of the file system fail with EIO or ENOSPC, or kills the server there: in a call, at start and stop',
  play,
};

/** Number of faults per round: of the append, all in one server, and of the other calls. */
const FAULTS = { short: { append: 8, others: 1 }, full: { append: 60, others: 12 } } as const;

async function play({ size, random, folder }: Round): Promise<Outcome> {
  if (!CAN_TRACE) return { counts: { faults: 0 }, problems: [], skipped: [NO_STRACE] };
  const judge = new Judge(folder);
  await failInAppend(judge, random, FAULTS[size].append);
  await killInAppend(judge, random, FAULTS[size].others);
  for (const work of [stop, create]) await failIn(work, judge, random, FAULTS[size].others);
  return { counts: { faults: judge.faults, 'answered changes': judge.answered }, problems: judge.problems };
}

/** What was found wrong, in all projects of a round. */
class Judge {
  readonly problems: string[] = [];
  readonly #folder: string;
  faults = 0;
  answered = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  newProject(): FaultyProject {
    return new FaultyProject(mkdtempSync(join(this.#folder, 'project-')));
  }

  /** Asserts that the server continues, or the next one starts, and that it stored what it answered. */
  async judge(project: FaultyProject, server: ServerProcess, fault?: Fault): Promise<void> {
    const where = fault === undefined ? 'at the end' : `${fault.effect} at ${fault.call} ${fault.nth}`;
    if (fault !== undefined) this.faults += 1;
    if ((await project.append(server)) !== 'stored') this.problems.push(`${where}: the next call does not work`);
    this.problems.push(...(await project.findLies()).map((lie) => `${where}: ${lie}`));
  }

  end(project: FaultyProject): void {
    this.answered += project.stored.size;
  }
}

class FaultyProject {
  readonly stored = new Set<string>();
  readonly #refused = new Set<string>();
  readonly #folder: string;
  readonly #traces: string;
  readonly #path: string;
  readonly #files: readonly string[];
  #titles = 0;

  constructor(folder: string) {
    this.#folder = join(folder, 'project');
    this.#traces = join(folder, 'traces');
    for (const made of [this.#folder, this.#traces]) mkdirSync(made, { mode: 0o700 });
    this.#path = join(this.#folder, '.colibri', 'colibri.db');
    this.#files = [dirname(this.#path), ...['', '-wal', '-shm', '-journal'].map((suffix) => this.#path + suffix)];
  }

  async start(launcher: readonly string[] = []): Promise<ServerProcess> {
    const env = { PATH: process.env['PATH'] ?? '', HOME: this.#folder, COLIBRI_KEY_PATH: 'none' };
    const program = resolve('dist/colibri.cjs');
    const server = new ServerProcess({ program, cwd: this.#folder, env, launcher });
    await server.initialize('faulty');
    return server;
  }

  startWith(fault?: Fault): Promise<ServerProcess> {
    return this.start(faultyLauncher(this.#files, this.#traces, fault));
  }

  inject(server: ServerProcess, fault?: Fault): Promise<Injection> {
    return Injection.attach(server.child.pid ?? 0, this.#files, this.#traces, fault);
  }

  /** Creates a task and notes what the answer says about it. */
  async append(server: ServerProcess): Promise<'stored' | 'refused' | 'unknown'> {
    this.#titles += 1;
    const title = `task ${this.#titles}`;
    const reply = await server.call('task_create', { title });
    if (reply?.outcome === 'ok') this.stored.add(title);
    // This outcome may also say that the change was made, and that the disk did not confirm it.
    else if (reply !== undefined && reply.outcome !== 'AUDIT_EXIT_FAILED') this.#refused.add(title);
    return reply === undefined ? 'unknown' : reply.outcome === 'ok' ? 'stored' : 'refused';
  }

  async appendWith(server: ServerProcess, fault?: Fault): Promise<void> {
    const injection = await this.inject(server, fault);
    await this.append(server);
    await injection.detach();
  }

  readTrace(): ReturnType<typeof readTrace> {
    return readTrace(this.#traces);
  }

  async findLies(): Promise<string[]> {
    if (!existsSync(this.#path)) return this.stored.size === 0 ? [] : ['the ledger is gone'];
    const options = { mode: 'FULL', dbPath: this.#path, durability: 'full', readOnly: true } as const;
    const database = await openDatabase(options);
    try {
      await openLedgerReadOnly(database);
      return await database.read(async (reader) => {
        const { problems } = await verifyEverything(reader);
        const titles = (await reader.query<{ title: string }>('SELECT title FROM tasks')).map(({ title }) => title);
        const [found, lost] = [new Set(titles), [...this.stored].filter((title) => !titles.includes(title))];
        return [
          ...problems.map(({ place, problem }) => `${place}: ${problem}`),
          ...lost.map((title) => `${title} was answered and is lost`),
          ...titles.filter((title) => this.#refused.has(title)).map((title) => `${title} was refused and is stored`),
          ...(found.size === titles.length ? [] : ['a task was stored twice']),
        ];
      });
    } finally {
      await database.close();
    }
  }
}

/** Injects all faults into one server, which must survive them. */
async function failInAppend(judge: Judge, random: Random, count: number): Promise<void> {
  const project = judge.newProject();
  const server = await project.start();
  await project.append(server);
  await project.appendWith(server);
  for (const fault of choose(listFaults(project.readTrace().counts, ['EIO', 'ENOSPC']), random, count)) {
    await project.appendWith(server, fault);
    await judge.judge(project, server, fault);
  }
  server.closeInput();
  const { code } = await server.exit;
  if (code !== 0) judge.problems.push(`a server that had met faults ended with exit code ${code}: ${server.errors}`);
  judge.end(project);
}

async function killInAppend(judge: Judge, random: Random, count: number): Promise<void> {
  const project = judge.newProject();
  const measured = await project.start();
  await project.append(measured);
  await project.appendWith(measured);
  const faults = listFaults(project.readTrace().counts, ['SIGKILL']);
  await end(measured);
  for (const fault of choose(faults, random, count)) {
    const doomed = await project.start();
    await project.append(doomed);
    await project.appendWith(doomed, fault);
    doomed.signal('SIGKILL');
    await doomed.exit;
    const next = await project.start();
    await judge.judge(project, next, fault);
    await end(next);
  }
  judge.end(project);
}

/** Runs a server with each fault of its work, and another one without a fault afterwards. */
async function failIn(
  work: (project: FaultyProject, fault?: Fault) => Promise<void>,
  judge: Judge,
  random: Random,
  count: number,
): Promise<void> {
  const measured = judge.newProject();
  await work(measured);
  const faults = listFaults(measured.readTrace().counts, ['EIO', 'ENOSPC', 'SIGKILL']);
  for (const fault of choose(faults, random, count)) {
    const project = judge.newProject();
    await work(project, fault);
    const next = await project.start();
    await judge.judge(project, next, fault);
    await end(next);
    judge.end(project);
  }
}

async function stop(project: FaultyProject, fault?: Fault): Promise<void> {
  const server = await project.start();
  await project.append(server);
  const injection = await project.inject(server, fault);
  await end(server);
  await injection.detach();
}

async function create(project: FaultyProject, fault?: Fault): Promise<void> {
  const server = await project.startWith(fault);
  await project.append(server);
  await end(server);
}

async function end(server: ServerProcess): Promise<void> {
  server.closeInput();
  await server.exit;
}

function choose(faults: readonly Fault[], random: Random, count: number): Fault[] {
  if (faults.length === 0) throw new Error('no call of the file system was seen');
  const left = [...faults];
  return Array.from({ length: Math.min(count, left.length) }, () => left.splice(random.below(left.length), 1)).flat();
}
