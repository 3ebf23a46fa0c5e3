import { realpathSync } from 'node:fs';
import { DatabaseError } from '../db/database.ts';
import { assertNoJournal } from '../db/sqlite/files/journal.ts';
import { type Acceptance, findAcceptance } from './acceptance.ts';
import { type Check, findSwap } from './accepted-ledger.ts';
import { type Concern, listConcerns } from './list-concerns.ts';
import { mayRead } from './readable-ledger.ts';

/** The verdict on a ledger that the user did not name explicitly, before it is opened. */
export type Trust =
  | { readonly verdict: 'own' }
  | { readonly verdict: 'accepted'; readonly concerns: readonly Concern[]; readonly acceptance: Acceptance }
  | { readonly verdict: 'refused'; readonly concerns: readonly Concern[]; readonly error: DatabaseError };

/** Refuses a ledger that Colibri did not create here and that the user has not accepted. Changes nothing. */
export async function assertTrusted(databasePath: string, check: Check = {}): Promise<void> {
  const trust = await judgeLedger(databasePath, check);
  if (trust.verdict === 'refused') throw trust.error;
}

export async function judgeLedger(databasePath: string, check: Check = {}): Promise<Trust> {
  const concerns = listConcerns(databasePath);
  const [first] = concerns;
  if (first === undefined) return { verdict: 'own' };
  const found = concerns.find(({ isAcceptable }) => !isAcceptable);
  if (found !== undefined) return { verdict: 'refused', concerns, error: refuseUnsafe(found, databasePath) };
  const journal = findJournal(databasePath);
  if (journal !== undefined) return { verdict: 'refused', concerns, error: journal };
  const acceptance = findAcceptance(realpathSync(databasePath));
  if (acceptance === undefined) {
    if (check.isReadOnly === true && (await mayRead(databasePath, concerns))) return { verdict: 'own' };
    return { verdict: 'refused', concerns, error: refuseUnknown(first, databasePath) };
  }
  const swap = await findSwap(databasePath, acceptance, check);
  if (swap === undefined) return { verdict: 'accepted', concerns, acceptance };
  return { verdict: 'refused', concerns, error: refuseSwapped(first, swap, databasePath) };
}

/** Reported before other concerns: accepting the ledger would not help. */
function findJournal(databasePath: string): DatabaseError | undefined {
  try {
    assertNoJournal(databasePath);
    return undefined;
  } catch (error) {
    if (error instanceof DatabaseError) return error;
    throw error;
  }
}

/** `unavailable`, because a running server may find it accepted when it tries again. */
function refuseUnsafe({ path, says }: Concern, databasePath: string): DatabaseError {
  return new DatabaseError(
    'unavailable',
    `${path} ${says}, so the ledger was not opened: a clone could lead to any file this way`,
    { advice: `to use it anyway, set COLIBRI_DB_PATH to ${databasePath}` },
  );
}

function refuseUnknown({ path, says }: Concern, databasePath: string): DatabaseError {
  return new DatabaseError(
    'unavailable',
    `${path} ${says}, so the ledger may have come with a clone and was not opened`,
    { advice: acceptAdvice(databasePath) },
  );
}

function refuseSwapped({ path, says }: Concern, swap: string, databasePath: string): DatabaseError {
  return new DatabaseError('unavailable', `${path} ${says}, and the ledger ${swap}`, {
    advice: acceptAdvice(databasePath),
  });
}

function acceptAdvice(databasePath: string): string {
  return `run colibri trust to look at it and accept it, or set COLIBRI_DB_PATH to ${databasePath}`;
}
