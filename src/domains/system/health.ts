import type { Durability } from '../../db/database.ts';
import type { Mode } from '../../modes.ts';
import type { Health } from './schema.ts';

/** Facts that need no I/O. */
export interface Pulse {
  readonly version: string;
  readonly mode: Mode;
  readonly uptimeMs: number;
}

/** A cosignature, or why there is none. */
export type WitnessAnswer = { readonly name: string } & (
  | { readonly state: 'cosigned'; readonly size: number /** Seconds since 1970. */; readonly time: number }
  | { readonly state: 'failed' | 'disagrees'; readonly problem: string }
);

/** Facts that need no database. */
export interface ServerFacts extends Pulse {
  readonly phase: Health['phase'];
  /** How many tools the current mode admits. */
  readonly toolCount: number;
  readonly capabilities: readonly string[];
  readonly dbPath: string;
  readonly durability: string;
  readonly failure: Error | undefined;
  readonly isRetrying: boolean;
  /** Why the server serves reads only. */
  readonly rollback: Error | undefined;
  /** Why the last change failed, if the file is damaged. */
  readonly damage: Error | undefined;
  readonly signing: Health['signing'];
  /** Why a key that is there does not sign; undefined without one. */
  readonly signingFault: Error | undefined;
  /** What each witness answered last; undefined if none was asked. */
  readonly witnesses: readonly WitnessAnswer[] | undefined;
  readonly skills: Health['skills'];
  readonly process: Health['process'];
}

/** The current state of the database; undefined if none is open. */
export type LedgerFacts =
  | {
      readonly engine: string;
      readonly schemaVersion: number;
      readonly size: number;
      readonly root: string;
      readonly liveAgents: number;
      readonly durability: Durability;
      readonly earlierBackup: string | undefined;
    }
  | { readonly engine: string; readonly error: Error }
  | undefined;

const STAGES = ['tool-lock', 'validate', 'audit-enter', 'dispatch', 'audit-exit'];

export interface HealthCall {
  readonly at: string;
  /** Why the call that asks is not recorded. */
  readonly unrecorded?: Error;
}

export function describeHealth(server: ServerFacts, ledger: LedgerFacts, { at, unrecorded }: HealthCall): Health {
  const problems: Health['problems'] = [];
  if (unrecorded !== undefined) problems.push({ code: 'CALL_NOT_RECORDED', message: unrecorded.message });
  if (server.failure !== undefined) {
    const prospect = server.isRetrying ? '. Colibri retries automatically' : '';
    problems.push({ code: 'ERR_INIT_FAILED', message: `${server.failure.message}${prospect}` });
  }
  if (server.rollback !== undefined) problems.push({ code: 'ERR_LOG_ROLLBACK', message: server.rollback.message });
  if (server.damage !== undefined) problems.push({ code: 'LEDGER_DAMAGED', message: server.damage.message });
  if (server.signingFault !== undefined)
    problems.push({ code: 'SIGNING_FAILED', message: server.signingFault.message });
  for (const answer of server.witnesses ?? [])
    if (answer.state === 'disagrees')
      problems.push({ code: 'WITNESS_DISAGREES', message: `${answer.name} ${answer.problem}` });
  if (ledger !== undefined && 'error' in ledger)
    problems.push({ code: 'LEDGER_UNREADABLE', message: ledger.error.message });
  const weakness = ledger !== undefined && 'durability' in ledger ? ledger.durability.weakness : undefined;
  if (weakness !== undefined) problems.push({ code: 'WEAK_DURABILITY', message: weakness });
  const backup = ledger !== undefined && 'earlierBackup' in ledger ? ledger.earlierBackup : undefined;
  if (backup !== undefined) problems.push({ code: 'EARLIER_BACKUP', message: describeEarlierBackup(backup) });
  const readable = ledger !== undefined && 'size' in ledger ? ledger : undefined;
  return {
    status: problems.length === 0 ? 'ok' : 'degraded',
    problems,
    mode: server.mode,
    phase: server.phase,
    capabilities: [...server.capabilities],
    uptime_ms: server.uptimeMs,
    version: server.version,
    timestamp: at,
    db: {
      open: readable !== undefined,
      ...(ledger === undefined ? {} : { engine: ledger.engine }),
      user_version: readable?.schemaVersion ?? 0,
      path: server.dbPath,
      durability: readable?.durability.level ?? server.durability,
    },
    ...(readable === undefined
      ? {}
      : { ledger: { size: readable.size, root: readable.root }, agents: { live: readable.liveAgents } }),
    ...(server.signing === undefined ? {} : { signing: server.signing }),
    ...(server.witnesses === undefined ? {} : { witnesses: server.witnesses.map(describeWitness) }),
    middleware: { stages: STAGES },
    tools: { registered: server.toolCount },
    skills: server.skills,
    process: server.process,
  };
}

function describeEarlierBackup(backup: string): string {
  return `the ledger is new and has no task, and ${backup} is a backup of an earlier one; if that was deleted by mistake, ask a person to stop the agents and to run colibri restore`;
}

function describeWitness(answer: WitnessAnswer): NonNullable<Health['witnesses']>[number] {
  const { name, state } = answer;
  if (answer.state !== 'cosigned') return { name, state, problem: answer.problem };
  return { name, state, size: answer.size, at: new Date(answer.time * 1000).toISOString() };
}
