/** What the ledger knows about an agent whose name could be that of a new process. */
export interface KnownAgent {
  readonly name: string;
  /** The new process has this name already: its first call was recorded, although no answer told so. */
  readonly isOwn: boolean;
  /** One of its processes runs. */
  readonly isAlive: boolean;
  /** Its last process was started by the client process that also started this one. */
  readonly isOwnClient: boolean;
  /** Its last process ran in the same folder of the same machine. */
  readonly isOwnFolder: boolean;
  readonly holdsTask: boolean;
  /** The index of its latest claim on a task that it holds; 0 without one. */
  readonly latestClaim: number;
  /** The agent from which it took that task over, perhaps itself under an earlier name. */
  readonly tookFrom: string | null;
  /** The index of its last call. */
  readonly lastCall: number;
  /** Since its last call; infinite if that is unknown. */
  readonly silentMs: number;
}

/** A client that restarts its servers, or is restarted itself, takes no longer. */
const RESTART_MS = 600_000;

/** An agent that was silent for longer while a holder worked has ended, like one whose claim lapses by default. */
const IDLE_MS = 7_200_000;

const MAX_NAME_LENGTH = 128;
const NUMBER = /#([1-9]\d{0,5})$/;

/**
 * The name of a process of a client, unique among live agents: that of an earlier process which this one continues,
 * else the lowest free one. A client that restarts its server keeps its name and so its claims; a name that holds a
 * task of another folder stays reserved for it.
 */
export function chooseName(client: string, known: readonly KnownAgent[]): string {
  const own = known.find(({ name, isOwn }) => isOwn && isNameOf(client, name));
  if (own !== undefined) return own.name;
  const dead = known.filter(({ name, isAlive }) => !isAlive && isNameOf(client, name));
  const ofClient = dead.filter(isOfOwnClient);
  // A wrapper such as npx is a new parent at every start, so that only the folder tells whom a process may continue.
  const earlier = ofClient.length > 0 ? ofClient : listPossible(dead.filter(({ isOwnFolder }) => isOwnFolder));
  const isAmbiguous = earlier.length > 1 && earlier.some(({ holdsTask }) => holdsTask);
  const continued = isAmbiguous ? undefined : newest(earlier);
  if (continued !== undefined) return continued.name;
  // The order of restarts is unknown, so a new process gets a new name and proves its claim with the fencing token.
  // Under an old name that has lost the task it would be told to stop.
  const taken = new Set(isAmbiguous ? dead.map(({ name }) => name) : []);
  for (const { name, isAlive, holdsTask } of known) if (isAlive || holdsTask) taken.add(name);
  for (let number = 1; ; number += 1) {
    const name = numbered(client, number);
    if (!taken.has(name)) return name;
  }
}

/** Whether `chooseName` can return the name for the client. */
export function isNameOf(client: string, name: string): boolean {
  const [, digits] = NUMBER.exec(name) ?? [];
  return name === client || (digits !== undefined && digits !== '1' && name === numbered(client, Number(digits)));
}

/** Whether both can be names of one client. */
export function haveSameClient(left: string, right: string): boolean {
  return left.replace(NUMBER, '') === right.replace(NUMBER, '');
}

/** `claude-code`, `claude-code#2`, … The client is cut so that the number fits. */
function numbered(client: string, number: number): string {
  if (number === 1) return client;
  const suffix = `#${number}`;
  return client.slice(0, MAX_NAME_LENGTH - suffix.length).toWellFormed() + suffix;
}

function isOfOwnClient({ isOwnClient, isOwnFolder }: KnownAgent): boolean {
  return isOwnClient && isOwnFolder;
}

/** The holders of tasks and, if there are any, the agents that worked beside them and may come back first. */
function listPossible(dead: readonly KnownAgent[]): readonly KnownAgent[] {
  const holders = dead.filter(({ holdsTask }) => holdsTask);
  const beside = dead.filter((agent) => !agent.holdsTask && holders.some((holder) => workedBeside(agent, holder)));
  return [...holders, ...beside];
}

function workedBeside(agent: KnownAgent, holder: KnownAgent): boolean {
  if (agent.name === holder.tookFrom) return false;
  if (agent.silentMs < RESTART_MS) return true;
  return agent.lastCall > holder.latestClaim && !wasOutlived(agent, holder);
}

/** Only calls of the holder show that an agent was idle: the nights and breaks of both do not count. */
function wasOutlived(agent: KnownAgent, holder: KnownAgent): boolean {
  return Number.isFinite(agent.silentMs) && agent.silentMs - holder.silentMs >= IDLE_MS;
}

function newest(agents: readonly KnownAgent[]): KnownAgent | undefined {
  return agents.toSorted((left, right) => right.lastCall - left.lastCall)[0];
}
