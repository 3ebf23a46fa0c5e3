import type { AuditSink } from '../audit.ts';

/**
 * Records calls in the ledger until nothing may be added to it, and then in `other`. A call that is running meanwhile
 * ends where it began: the ledger ignores the exit of a call that it has not entered.
 */
export function createHaltableAudit(ledger: AuditSink, other: AuditSink, isHalted: () => boolean): AuditSink {
  return {
    enter: (event) => (isHalted() ? other : ledger).enter(event),
    exit: async (event) => {
      if (isHalted()) await other.exit(event);
      await ledger.exit(event);
    },
  };
}
