import { type Config, describeLocation } from '../config.ts';
import type { Pulse, ServerFacts } from '../domains/system/health.ts';
import { admittedAccess, isAdmitted } from '../modes.ts';
import type { ColibriServerContext } from './colibri-server.ts';

/** What a server knows about itself. */
export type FactSource = Pick<ColibriServerContext, 'chain' | 'bootStartMs' | 'getVersion' | 'listTools'>;

/** For `server_ping`. */
export function pulseOf(server: FactSource): Pulse {
  const { runtime, nowMs } = server.chain;
  return { version: server.getVersion(), mode: runtime.mode, uptimeMs: Math.floor(nowMs() - server.bootStartMs) };
}

/** For `server_health`. Slower than a pulse: it reads the skills from disk and asks the operating system. */
export function factsOf(server: FactSource, config: Config): ServerFacts {
  const { runtime } = server.chain;
  return {
    ...pulseOf(server),
    phase: runtime.phase,
    toolCount: server.listTools().filter((tool) => isAdmitted(runtime.mode, tool)).length,
    capabilities: admittedAccess(runtime.mode).map((access) => `ledger.${access}`),
    dbPath: runtime.database?.location ?? describeLocation(config),
    durability: config.durability,
    failure: runtime.failure,
    isRetrying: runtime.isRetrying,
    rollback: runtime.rollback,
    damage: runtime.damage,
    signing: runtime.signing,
    signingFault: runtime.signingFault,
    witnesses: runtime.witnesses,
    skills: { loaded: runtime.skills?.list().length ?? 0, skipped: [...(runtime.skills?.defects() ?? [])] },
    process: { pid: process.pid, node: process.versions.node, memory_bytes: process.memoryUsage.rss() },
  };
}
