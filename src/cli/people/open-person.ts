import { type Config, locateDatabase, namesPerson, readCommandConfig } from '../../config.ts';
import type { Database, Reader } from '../../db/database.ts';
import { findAbove, LEDGER, serverConfig } from '../../db/locate.ts';
import { mayOnlyReadPostgres } from '../../db/postgres/may-write.ts';
import { mayWriteLedger } from '../../db/sqlite/files/may-write.ts';
import type { Answer } from '../../envelope.ts';
import { FifoLock } from '../../fifo-lock.ts';
import { createLog } from '../../log.ts';
import type { AuditSink } from '../../middleware/audit.ts';
import type { Chain } from '../../middleware/call.ts';
import { runCall } from '../../middleware/chain.ts';
import { accessOf, type Mode, writesLedger } from '../../modes.ts';
import { printError } from '../../print-error.ts';
import { boot } from '../../runtime/boot.ts';
import { Runtime } from '../../runtime/runtime.ts';
import { type FactSource, factsOf, pulseOf } from '../../server/facts.ts';
import { createSurface } from '../../surface.ts';
import type { Tool } from '../../tool.ts';
import { openDatabase } from '../../trust/open-database.ts';
import { readVersion } from '../../version.ts';
import { findExitIndex } from '../query/log-entries.ts';
import { CommandError } from '../support/command-result.ts';
import { assertNotDeleted } from '../support/deleted-ledger.ts';
import { isMissing, isTemporary, printSharedLedger } from '../support/with-ledger.ts';
import { personActor } from './person-name.ts';

export interface PersonOptions {
  /** The name without its prefix; undefined: the name of the user. */
  readonly as?: string;
  readonly json?: boolean;
}

export interface PersonCall {
  readonly answer: Answer;
  /** The index of the entry that holds the change; undefined if the call changed nothing. */
  readonly entry: number | undefined;
}

/** A person who calls the tools in this process, through the same stages as an agent. */
export interface Person {
  readonly actor: string;
  readonly config: Config;
  readonly tools: readonly Tool[];
  call(tool: string, rawInput: unknown, force?: string): Promise<PersonCall>;
  /** Reads the ledger without a call; undefined in MINIMAL mode, which opens none. */
  read<Result>(work: (reader: Reader) => Promise<Result>): Promise<Result | undefined>;
  readonly database: Database | undefined;
  /** Why nothing can be written: the log does not extend what was signed before. */
  readonly rollback: Error | undefined;
  /** Signs the log as it is now. */
  readonly signCheckpoint: () => Promise<string>;
  /** Wraps a proof under that checkpoint into an envelope of the same key. */
  readonly wrapProof: Runtime['wrapProof'];
}

export interface PersonSettings {
  /** True for a command that makes sense without a ledger, which it creates. */
  readonly createsLedger?: boolean;
  readonly config?: Config;
}

/** Opens the ledger as a server does, and closes it after the work. */
export async function withPerson<Result>(
  { as }: PersonOptions,
  work: (person: Person) => Promise<Result>,
  { createsLedger = false, config: found = readPersonConfig() }: PersonSettings = {},
): Promise<Result> {
  const actor = personActor(as);
  const config = { ...found, agentId: actor };
  const isNew = !isTemporary(config) && isMissing(config);
  // A new ledger would hide the loss of the old one.
  if (isNew) assertNotDeleted(config);
  if (isNew && !createsLedger)
    throw new CommandError('cannot tell', `no ledger at ${locateDatabase(config)}`, {
      advice: 'run colibri add "title" to create one',
    });
  if (!isTemporary(config)) printSharedLedger(config);
  const warnings = listWarnings(config);
  if (warnings.length > 0) printError(warnings);
  const chain = createChain(config);
  const { lock, log, runtime } = chain;
  await runtime.boot(
    lock,
    async () => {
      const booted = await boot(config, log, printError, { signsWhatItReads: true, needsLedger: !createsLedger });
      // Without transactions nothing is written to the ledger.
      return booted.transactions === undefined ? { ...booted, audit: sayUnrecorded(config.mode) } : booted;
    },
    () => undefined,
  );
  try {
    if (runtime.failure !== undefined) throw runtime.failure;
    if (isNew) printError(`Created the ledger ${locateDatabase(config)}.`);
    return await work(createPerson(actor, config, chain));
  } finally {
    await runtime.close();
  }
}

/** The same for work that changes nothing: a ledger that may only be read is opened so. */
export async function withReader<Result>(
  options: PersonOptions,
  work: (person: Person) => Promise<Result>,
): Promise<Result> {
  const config = readPersonConfig();
  return withPerson(options, work, {
    config: (await mayOnlyRead(config)) ? { ...config, mode: 'READONLY' } : config,
  });
}

async function mayOnlyRead(config: Config): Promise<boolean> {
  if (isTemporary(config) || !writesLedger(config.mode)) return false;
  if (config.databaseUrl === undefined) return !isMissing(config) && !mayWriteLedger(locateDatabase(config));
  const database = await openDatabase({ ...config, readOnly: true });
  try {
    return await database.read(mayOnlyReadPostgres);
  } finally {
    await database.close();
  }
}

/** For a command that changes the ledger without a call of a tool. */
export function requireWriter({ database, config, rollback }: Person): Database {
  if (rollback !== undefined) throw rollback;
  if (database !== undefined && writesLedger(config.mode)) return database;
  throw new CommandError('refused', `${config.mode} mode changes no ledger`, {
    advice: 'set COLIBRI_MODE=FULL, or unset it',
  });
}

/** Outside of a repository, the nearest ledger above is used, as by the commands that show it. */
function readPersonConfig(): Config {
  const config = serverConfig(readCommandConfig());
  const isOpen = config.dbPath === undefined && config.mode !== 'TEST';
  return isOpen ? { ...config, projectDbPath: findAbove(LEDGER, LEDGER) ?? config.projectDbPath } : config;
}

/** Settings that make a command do something else than its user may expect. */
function listWarnings(config: Config): string[] {
  return [
    ...(isTemporary(config)
      ? ['Warning: COLIBRI_MODE is TEST: this ledger is temporary, and your changes are lost when the command ends.']
      : []),
    ...(namesPerson() ? ['Warning: COLIBRI_AGENT_ID does not name who you are; use --as NAME for that.'] : []),
  ];
}

/** Where nothing is written to the ledger: a server logs its calls instead, which a person has no use for. */
function sayUnrecorded(mode: Mode): AuditSink {
  return {
    enter: () => undefined,
    exit: ({ tool, outcome }) => {
      const reason = writesLedger(mode) ? 'the log was rolled back' : `COLIBRI_MODE is ${mode}`;
      if (outcome === 'ok') printError(`This call of ${tool} is not recorded: ${reason}.`);
    },
  };
}

function createChain(config: Config): Chain<Runtime> {
  return {
    lock: new FifoLock(),
    // Warnings about other processes are for the log of a server.
    log: createLog('error', printError, { hasStacks: false }),
    nowMs: () => performance.now(),
    runtime: new Runtime({
      mode: config.mode,
      now: () => new Date().toISOString(),
      fallbackAudit: sayUnrecorded(config.mode),
    }),
  };
}

function createPerson(actor: string, config: Config, chain: Chain<Runtime>): Person {
  const { runtime } = chain;
  const source: FactSource = { chain, bootStartMs: chain.nowMs(), getVersion: readVersion, listTools: () => tools };
  const tools = createSurface(
    {
      pulse: () => pulseOf(source),
      facts: () => factsOf(source, config),
      database: () => runtime.database,
      skills: () => runtime.skills,
      checkpoint: () => runtime.checkpoint,
    },
    config,
  );
  const read: Person['read'] = async (work) => runtime.database?.read(work);
  return {
    actor,
    config,
    tools,
    read,
    database: runtime.database,
    rollback: runtime.rollback,
    signCheckpoint: () => runtime.signCheckpoint(),
    wrapProof: runtime.wrapProof,
    call: async (name, rawInput, force) => {
      const tool = tools.find((candidate) => candidate.name === name);
      const answer = await runCall(chain, {
        name,
        tool,
        rawInput,
        actor,
        ...(force === undefined ? {} : { force }),
        progress: () => undefined,
        signal: new AbortController().signal,
      });
      if (answer.exit !== undefined) runtime.committed(name, answer.exit.index + 1);
      const changed = tool !== undefined && accessOf(tool) === 'write' && !answer.isError;
      return {
        answer,
        entry: changed ? await read((reader) => findChange(reader, runtime.lastCallOf(actor))) : undefined,
      };
    },
  };
}

/** A tool and its exit are one transaction, so the entry of the change comes right before that of the exit. */
async function findChange(reader: Reader, sequenceNo = -1): Promise<number | undefined> {
  const exit = await findExitIndex(reader, sequenceNo);
  return exit === undefined ? undefined : exit - 1;
}
