import type { Random } from '../random.ts';
import type { Setting } from '../world.ts';

/** What an agent, a person or a client does next, before it is known which tasks exist. */
export interface Work {
  readonly what: Action;
  /** Chooses among the tasks or sessions that are known by then; undefined: the newest of this lane. */
  readonly choice: number | undefined;
}

export type Action =
  | (typeof CHANGES)[number]
  | (typeof READS)[number]
  | (typeof PEOPLE_READ)[number]
  | 'observe'
  | 'observe-stop';

/** Each carries a marker of its own, except `seal`, which can happen once to a session. */
const CHANGES = ['create', 'claim', 'session', 'think', 'progress', 'block', 'review', 'done', 'seal'] as const;
const READS = ['get', 'list', 'next', 'thoughts', 'check', 'root', 'skills', 'ping', 'health'] as const;
const PEOPLE_READ = ['verify', 'board', 'log', 'agents', 'backup'] as const;

/**
 * What happens while the calls of a step run. `stop`: SIGSTOP, then SIGCONT. `leave`: the client closes the input.
 * `unread`: the client does not read for a while; `unread-kill`: and then the server is killed. `hang-up`: the client
 * closes the output. `kill-starting`: another server is killed while it starts.
 */
export type Fault = (typeof FAULTS)[number];
const FAULTS = ['kill', 'term', 'stop', 'leave', 'unread', 'unread-kill', 'hang-up', 'kill-starting'] as const;

export interface Step {
  /** Sent at once, without waiting for answers in between. */
  readonly works: readonly Work[];
  readonly fault: Fault | undefined;
  /** How long after the calls were sent the fault happens. */
  readonly afterMs: number;
  /** How long a process stays stopped, or a pipe unread. */
  readonly lastsMs: number;
}

export interface Lane {
  readonly name: string;
  readonly kind: 'agent' | 'person' | 'client';
  readonly steps: readonly Step[];
  /** How far the clock of the lane's processes is set back, a moment after each has started. */
  readonly clockBackMs: number;
}

export interface Script extends Setting {
  readonly lanes: readonly Lane[];
}

/** How long a writer waits for the lock before it gives up: a longer stop makes the others answer with an error. */
export const LOCK_LIMIT_MS = 10_000;

export function hasLongStop({ lanes }: Script): boolean {
  return lanes.some(({ steps }) => steps.some(({ fault, lastsMs }) => fault === 'stop' && lastsMs > LOCK_LIMIT_MS / 2));
}

/** A pure function of the random choices. The short form has one round for each engine. */
export function writeScript(random: Random, size: 'short' | 'full', seed: number): Script {
  const isShort = size === 'short';
  const count = (most: number, few: number) => (isShort ? few : random.between(1, most));
  const onSqlite = isShort ? seed % 2 === 0 : undefined;
  const steps = isShort ? (onSqlite ? 6 : 3) : random.between(10, 60);
  const lanes: Lane[] = [];
  const kinds = { agent: count(24, 3), person: count(4, 1), client: count(4, 1) };
  for (const [kind, number] of Object.entries(kinds) as [Lane['kind'], number][])
    for (let index = 1; index <= number; index += 1) {
      // Commands start a process each, servers do not.
      const length = kind === 'agent' || isShort ? steps : Math.ceil(steps / 4);
      lanes.push(writeLane(random.fork(), { name: `${kind}-${index}`, kind }, length));
    }
  const longStop = isShort || !random.isOneIn(6) ? undefined : random.below(kinds.agent);
  return {
    engine: (onSqlite ?? random.isOneIn(2)) ? 'sqlite' : 'postgres',
    durability: random.pick(['full', 'relaxed']),
    signs: random.isOneIn(2),
    lanes: lanes.map((lane, index) => (index === longStop ? withLongStop(lane) : lane)),
  };
}

/** One line for each step. */
export function renderScript({ engine, durability, signs, lanes }: Script): string[] {
  const works = (step: Step) =>
    step.works.map(({ what, choice }) => `${what}${choice === undefined ? '' : `#${choice}`}`);
  return [
    `${engine}, ${durability}, ${signs ? 'signed' : 'unsigned'}`,
    ...lanes.flatMap(({ name, clockBackMs, steps }) => [
      `${name}${clockBackMs === 0 ? '' : `, clock back ${clockBackMs} ms`}`,
      ...steps.map((step, index) => {
        const fault = step.fault === undefined ? '' : `, ${step.fault} after ${step.afterMs} ms for ${step.lastsMs} ms`;
        return `  ${index}: ${works(step).join(' ')}${fault}`;
      }),
    ]),
  ];
}

function writeLane(random: Random, { name, kind }: Pick<Lane, 'name' | 'kind'>, length: number): Lane {
  const steps = Array.from({ length }, () => writeStep(random, kind));
  return { name, kind, steps, clockBackMs: random.isOneIn(3) ? random.between(1, 48 * 3_600_000) : 0 };
}

function writeStep(random: Random, kind: Lane['kind']): Step {
  const fault = random.isOneIn(4) ? chooseFault(random, kind) : undefined;
  const isBurst = kind === 'agent' && (fault?.startsWith('unread') || random.isOneIn(6));
  const works = Array.from({ length: isBurst ? random.between(2, 40) : 1 }, () => chooseWork(random, kind));
  return { works, fault, afterMs: chooseDelay(random, kind), lastsMs: random.between(20, 1500) };
}

function chooseFault(random: Random, kind: Lane['kind']): Fault {
  return kind === 'agent' ? random.pick(FAULTS) : random.pick(['kill', 'kill', 'term', 'stop']);
}

/** Most of the calls of a server take a millisecond, most of a command is the start of its process. */
function chooseDelay(random: Random, kind: Lane['kind']): number {
  return kind === 'agent' ? random.pick([0, 1, 2, 5, random.below(30)]) : random.below(400);
}

function chooseWork(random: Random, kind: Lane['kind']): Work {
  const what = chooseAction(random, kind);
  return { what, choice: random.isOneIn(3) ? random.below(1000) : undefined };
}

function chooseAction(random: Random, kind: Lane['kind']): Action {
  if (kind === 'client') return random.isOneIn(8) ? 'observe-stop' : 'observe';
  if (kind === 'person' && random.isOneIn(4)) return random.pick(PEOPLE_READ);
  return random.isOneIn(4) ? random.pick(READS) : random.pick(CHANGES);
}

function withLongStop(lane: Lane): Lane {
  const [first, ...rest] = lane.steps as [Step, ...Step[]];
  return { ...lane, steps: [...rest, { ...first, fault: 'stop', lastsMs: LOCK_LIMIT_MS + 2000 }] };
}
