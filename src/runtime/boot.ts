import { openSigning, type Signing } from '../checkpoints/open-signing.ts';
import { type Config, locateDatabase } from '../config.ts';
import type { Database } from '../db/database.ts';
import { findWorkTree } from '../db/locate.ts';
import { createProcessId } from '../db/process-id.ts';
import { createSkillRegistry, type SkillRegistry } from '../domains/skills/repository.ts';
import { closeInterruptedCalls } from '../ledger/calls/interrupted.ts';
import { CallRecorder } from '../ledger/calls/recorder.ts';
import { openLedger, openLedgerReadOnly } from '../ledger/open.ts';
import { AgentNames } from '../ledger/presence/agent-names.ts';
import { removeStaleRows } from '../ledger/presence/stale-rows.ts';
import type { Log } from '../log.ts';
import type { AuditSink } from '../middleware/audit.ts';
import { createHaltableAudit } from '../middleware/sinks/haltable.ts';
import { createStderrAudit } from '../middleware/sinks/stderr.ts';
import { opensDatabase, writesLedger } from '../modes.ts';
import { spoolOf } from '../recorder/spool.ts';
import { SpoolWatcher } from '../recorder/spool-watcher.ts';
import { findEarlierBackup } from '../trust/backups.ts';
import { openDatabase } from '../trust/open-database.ts';
import { acceptOwnLedger, isYetToBeMade } from '../trust/own-ledger.ts';
import { BackgroundWitnesses } from '../witnesses/background.ts';
import type { Booted } from './runtime.ts';

export interface BootOptions {
  /** Whether witnesses are asked after each signature. A command asks them itself, where it has use for it. */
  readonly asksWitnesses?: boolean;
  /** Whether a ledger that is only read can be signed. A server has no use for it. */
  readonly signsWhatItReads?: boolean;
  /** Whether a log is signed after its first change and at the end. A command signs only what is due. */
  readonly signsBothEnds?: boolean;
  /** Whether an empty PostgreSQL database is an error. Otherwise the ledger is created in it. */
  readonly needsLedger?: boolean;
}

/** Opens the ledger and loads the skills. Runs after the handshake, which must not wait for it. */
export async function boot(
  config: Config,
  log: Log,
  logger: (line: string) => void,
  options: BootOptions = {},
): Promise<Booted> {
  const stderrAudit = createStderrAudit(logger);
  if (!opensDatabase(config.mode)) return { audit: stderrAudit };
  const isWriter = writesLedger(config.mode);
  const isNew = isYetToBeMade(config);
  const { needsLedger = false } = options;
  const database = await openDatabase({ ...config, readOnly: !isWriter, needsLedger });
  const opened = { database, config, log, stderrAudit, isNew };
  try {
    return isWriter ? await bootWriter(opened, options) : await bootReader(opened, options);
  } catch (error) {
    await database.close();
    throw error;
  }
}

interface Opened {
  readonly database: Database;
  readonly config: Config;
  readonly log: Log;
  /** Records calls that must not be written to the ledger. */
  readonly stderrAudit: AuditSink;
  /** Whether there was no ledger before. */
  readonly isNew: boolean;
}

async function bootReader(
  { database, config, log, stderrAudit }: Opened,
  { signsWhatItReads = false }: BootOptions,
): Promise<Booted> {
  await openLedgerReadOnly(database);
  const { rollback, checkpoints } = await openSigning(database, config, { actor: 'colibri', log, isReadOnly: true });
  const signing = signsWhatItReads ? { checkpoints } : {};
  return { audit: stderrAudit, database, skills: loadSkills(config, log), rollback, ...signing };
}

async function bootWriter(opened: Opened, options: BootOptions): Promise<Booted> {
  const { database, config, log, stderrAudit, isNew } = opened;
  const processId = createProcessId({ engine: database.engine, folder: process.cwd(), parentId: process.ppid });
  const actor = config.agentId ?? 'colibri';
  const at = new Date().toISOString();
  await openLedger(database, actor, at, logMigration(log));
  const signing = await openSigning(database, config, { actor, log });
  if (signing.rollback !== undefined)
    return { audit: stderrAudit, database, skills: loadSkills(config, log), rollback: signing.rollback };
  if (isNew) await acceptOwnLedger(database, at);
  const backup = await findEarlierBackup(database);
  if (backup !== undefined) log('warn', 'the ledger is new, beside a backup of an earlier one', { backup });
  await database.enlist(processId);
  const interrupted = await closeInterruptedCalls(database, actor, at);
  if (interrupted > 0) log('warn', 'closed calls of processes that died', { calls: interrupted });
  const earlier = await removeStaleRows(database);
  const skills = loadSkills(config, log);
  const names = config.agentId === undefined ? new AgentNames(database, processId) : undefined;
  const { checkpoints } = signing;
  const onUnchanged = (size: number) => checkpoints?.recorded(size);
  const recorder = new CallRecorder(database, processId, { names, earlier, onUnchanged });
  const audit = createHaltableAudit(recorder, stderrAudit, () => isRolledBack(signing));
  const booted = { audit, transactions: recorder, callers: recorder, database, skills };
  // What clients report belongs to the ledger of the project, not to one that is thrown away.
  if (config.mode === 'TEST' && config.dbPath === undefined) return booted;
  return { ...booted, ...startBackground(opened, signing, options) };
}

/** Starts what uses the ledger beside the calls: the spool of the hooks, signatures and witnesses. */
function startBackground(
  { database, config, log }: Opened,
  signing: Signing,
  { asksWitnesses = false, signsBothEnds = false }: BootOptions,
): Pick<Booted, 'checkpoints' | 'witnesses' | 'background'> {
  const { checkpoints, ledgerId } = signing;
  const folder = spoolOf(locateDatabase(config));
  const spool = new SpoolWatcher(database, folder, log, () => isRolledBack(signing));
  spool.start();
  const witnesses =
    asksWitnesses && ledgerId !== undefined ? new BackgroundWitnesses(database, ledgerId, log) : undefined;
  if (checkpoints !== undefined) {
    checkpoints.signsFirstChange = signsBothEnds;
    checkpoints.onSigned = (checkpoint) => witnesses?.signed(checkpoint);
  }
  const background = {
    settle: (isWhole: boolean) => spool.settle(isWhole),
    stop: async () => {
      await spool.stop();
      await (signsBothEnds ? checkpoints?.stop() : checkpoints?.settled());
      await witnesses?.stop();
    },
  };
  return { checkpoints, witnesses, background };
}

/** Whether the log was found not to extend what was signed, since the boot: nothing may be added to it. */
function isRolledBack({ checkpoints }: Signing): boolean {
  return checkpoints?.rollback !== undefined;
}

/** Logs every tenth of a migration: a ledger of millions of entries takes minutes. */
function logMigration(log: Log): (done: number, total: number) => void {
  let reported = 0;
  return (done, total) => {
    const percent = Math.floor((done / total) * 10) * 10;
    if (percent <= reported) return;
    reported = percent;
    log('info', 'migrating the ledger', { percent });
  };
}

/** Called last: a boot is retried if the ledger cannot be opened, and each skipped skill must be logged only once. */
function loadSkills({ skillsPath }: Config, log: Log): SkillRegistry {
  const skills = createSkillRegistry({ folder: skillsPath, repository: findWorkTree() ?? '' }, log);
  skills.list();
  return skills;
}
