import { randomUUID } from 'node:crypto';
import type { Config } from '../config.ts';
import { openDatabase } from '../db/open.ts';
import { createSkillRegistry, type SkillRegistry } from '../domains/skills/repository.ts';
import { CallRecorder, closeInterruptedCalls } from '../ledger/calls/recorder.ts';
import { openLedger, openLedgerReadOnly } from '../ledger/open.ts';
import type { Log } from '../log.ts';
import { createStderrAudit } from '../middleware/stderr-audit.ts';
import { opensDatabase, writesLedger } from '../modes.ts';
import { acceptOwnLedger, isYetToBeMade } from '../trust/own-ledger.ts';
import type { Booted } from './runtime.ts';

/** Everything that may take a while, so that the handshake need not wait for it. */
export async function runSecondPhase(config: Config, log: Log, logger: (line: string) => void): Promise<Booted> {
  const stderrAudit = createStderrAudit(logger);
  if (!opensDatabase(config.mode)) return { audit: stderrAudit };
  const isWriter = writesLedger(config.mode);
  const isNew = isYetToBeMade(config);
  const database = await openDatabase({ ...config, readOnly: !isWriter });
  try {
    if (!isWriter) {
      await openLedgerReadOnly(database);
      const skills = loadSkills(config, log);
      return { audit: stderrAudit, database, skills };
    }
    const processId = randomUUID();
    const actor = config.agentId ?? 'colibri';
    const at = new Date().toISOString();
    await openLedger(database, actor, at);
    if (isNew) await acceptOwnLedger(database, at);
    await database.enlist(processId);
    const interrupted = await closeInterruptedCalls(database, actor, at);
    if (interrupted > 0) log('warn', 'closed calls of processes that died', { calls: interrupted });
    const skills = loadSkills(config, log);
    return { audit: new CallRecorder(database, processId), database, skills };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Last: a ledger that is not there yet is tried again, and a skill that was skipped is logged once. */
function loadSkills({ skillsPath }: Config, log: Log): SkillRegistry {
  const skills = createSkillRegistry(skillsPath, log);
  skills.list();
  return skills;
}
