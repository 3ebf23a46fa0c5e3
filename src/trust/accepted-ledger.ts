import { setImmediate } from 'node:timers/promises';
import { beforeEachStatement } from '../db/before-each-statement.ts';
import type { Reader } from '../db/database.ts';
import { readFileState } from '../db/sqlite/files/file-state.ts';
import { type Acceptance, storeAcceptance } from './acceptance.ts';
import { readIdentity } from './ledger-identity.ts';
import { withUntouchedLedger } from './untouched-ledger.ts';

export interface Check {
  /** True for a caller that verifies the ledger itself, or replaces it. */
  readonly isWithoutVerification?: boolean;
  /** True for a caller that only reads. */
  readonly isReadOnly?: boolean;
}

/**
 * Returns why a ledger is not the accepted one. The stored root alone does not prove it: an attacker can change rows
 * and keep the root. So the whole ledger is verified again, unless its files have not changed since.
 */
export async function findSwap(
  databasePath: string,
  acceptance: Acceptance,
  { isWithoutVerification = false }: Check,
): Promise<string | undefined> {
  const state = stateOf(databasePath, acceptance);
  if (state === acceptance.verifiedFiles) return undefined;
  const found = await withUntouchedLedger(databasePath, (database) =>
    database.read((reader) => compare(reader, acceptance, isWithoutVerification)),
  );
  if (found === undefined && !isWithoutVerification && stateOf(databasePath, acceptance) === state)
    noteVerified({ ...acceptance, verifiedFiles: state });
  return found;
}

/** Includes the accepted identity: after an edit of the acceptance the ledger is compared again. */
function stateOf(databasePath: string, { ledgerId, size, root }: Acceptance): string {
  return `${ledgerId} ${size} ${root} ${readFileState(databasePath)}`;
}

/** An honest ledger only grows; a swapped one has another prefix, or does not verify. */
async function compare(reader: Reader, acceptance: Acceptance, isUnverified: boolean): Promise<string | undefined> {
  const identity = await readIdentity(reader, acceptance.size);
  if (identity?.ledgerId !== acceptance.ledgerId || identity.root !== acceptance.root)
    return 'is not the one that was accepted here';
  if (isUnverified) return undefined;
  // Loaded on demand: only an accepted ledger needs it, and it imports every domain.
  const { verifyEverything } = await import('../verification/verify-ledger.ts');
  // SQLite blocks the event loop; yielding between two statements lets a server answer its client.
  const { problems } = await verifyEverything(beforeEachStatement(reader, () => setImmediate()));
  const [first] = problems;
  if (first === undefined) return undefined;
  return `was changed since it was accepted here (${problems.length} problem(s), the first: ${first.place} ${first.problem}; colibri verify lists them)`;
}

function noteVerified(acceptance: Acceptance): void {
  try {
    storeAcceptance(acceptance);
  } catch {
    // The next opening verifies it again.
  }
}
