import type { Durability } from '../../db/database.ts';
import type { Mode } from '../../modes.ts';
import type { Health } from './schema.ts';

/** What the server knows about itself without asking anybody. */
export interface Pulse {
  readonly version: string;
  readonly mode: Mode;
  readonly uptimeMs: number;
}

/** What it knows without asking the database. */
export interface ServerFacts extends Pulse {
  readonly phase: Health['phase'];
  readonly toolCount: number;
  readonly capabilities: readonly string[];
  readonly dbPath: string;
  readonly durability: string;
  readonly failure: Error | undefined;
  readonly isRetrying: boolean;
  readonly skills: Health['skills'];
  readonly process: Health['process'];
}

/** What the database says when it is asked now; undefined when there is none. */
export type LedgerFacts =
  | {
      readonly engine: string;
      readonly schemaVersion: number;
      readonly size: number;
      readonly root: string;
      readonly durability: Durability;
    }
  | { readonly engine: string; readonly error: Error }
  | undefined;

const STAGES = ['tool-lock', 'validate', 'audit-enter', 'dispatch', 'audit-exit'];

export function describeHealth(server: ServerFacts, ledger: LedgerFacts, timestamp: string): Health {
  const problems: Health['problems'] = [];
  if (server.failure !== undefined) {
    const prospect = server.isRetrying ? '. Colibri tries again by itself' : '';
    problems.push({ code: 'ERR_INIT_FAILED', message: `${server.failure.message}${prospect}` });
  }
  if (ledger !== undefined && 'error' in ledger)
    problems.push({ code: 'LEDGER_UNREADABLE', message: ledger.error.message });
  const weakness = ledger !== undefined && 'durability' in ledger ? ledger.durability.weakness : undefined;
  if (weakness !== undefined) problems.push({ code: 'WEAK_DURABILITY', message: weakness });
  const readable = ledger !== undefined && 'size' in ledger ? ledger : undefined;
  return {
    status: problems.length === 0 ? 'ok' : 'degraded',
    problems,
    mode: server.mode,
    phase: server.phase,
    capabilities: [...server.capabilities],
    uptime_ms: server.uptimeMs,
    version: server.version,
    timestamp,
    db: {
      open: readable !== undefined,
      ...(ledger === undefined ? {} : { engine: ledger.engine }),
      user_version: readable?.schemaVersion ?? 0,
      path: server.dbPath,
      durability: readable?.durability.level ?? server.durability,
    },
    ...(readable === undefined ? {} : { ledger: { size: readable.size, root: readable.root } }),
    middleware: { stages: STAGES },
    tools: { registered: server.toolCount },
    skills: server.skills,
    process: server.process,
  };
}
