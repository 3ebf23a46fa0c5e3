import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { closeToOthers } from '../../db/close-to-others.ts';
import { toError } from '../../errors.ts';
import { type LedgerIdentity, storeAcceptance } from '../../trust/acceptance.ts';
import { isOpenToOthers, listConcerns, listDatabaseFiles } from '../../trust/list-concerns.ts';
import { EXIT, Refusal } from './command-result.ts';

/** Notes that the user accepts this ledger, and closes its files to others. Returns where it was noted. */
export function acceptLedger(path: string, identity: LedgerIdentity): { readonly file: string | undefined } {
  const file = store(path, identity);
  for (const place of [dirname(path), ...listDatabaseFiles(path)]) if (isOpenToOthers(place)) closeToOthers(place);
  if (file === undefined && listConcerns(path).length > 0)
    throw new Refusal(
      EXIT.cannotTell,
      'cannot tell',
      `there is no folder to note it in; set HOME or XDG_CONFIG_HOME, or set COLIBRI_DB_PATH to ${path} instead`,
    );
  return { file };
}

function store(path: string, identity: LedgerIdentity): string | undefined {
  try {
    return storeAcceptance({ ...identity, path: realpathSync(path), acceptedAt: new Date().toISOString() });
  } catch (error) {
    const { message } = toError(error);
    throw new Refusal(
      EXIT.cannotTell,
      'cannot tell',
      `it cannot be noted in your configuration folder (${message}); mend that, or set COLIBRI_DB_PATH to ${path} instead`,
    );
  }
}
