import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { restrictPermissions } from '../../db/restrict-permissions.ts';
import { toError } from '../../errors.ts';
import { type LedgerIdentity, storeAcceptance } from '../../trust/acceptance.ts';
import { isOpenToOthers, listConcerns, listDatabaseFiles } from '../../trust/list-concerns.ts';
import { CommandError } from './command-result.ts';

/** Stores that the user accepts this ledger, and makes its files private. Returns the file of the acceptance. */
export function acceptLedger(path: string, identity: LedgerIdentity): { readonly file: string | undefined } {
  const file = store(path, identity);
  for (const place of [dirname(path), ...listDatabaseFiles(path)])
    if (isOpenToOthers(place)) restrictPermissions(place);
  if (file === undefined && listConcerns(path).length > 0)
    throw new CommandError('cannot tell', 'this user has no configuration folder to store the acceptance in', {
      advice: `set HOME or XDG_CONFIG_HOME, or set COLIBRI_DB_PATH to ${path} instead`,
    });
  return { file };
}

function store(path: string, identity: LedgerIdentity): string | undefined {
  try {
    return storeAcceptance({ ...identity, path: realpathSync(path), acceptedAt: new Date().toISOString() });
  } catch (error) {
    const { message } = toError(error);
    throw new CommandError('cannot tell', `cannot store the acceptance in your configuration folder (${message})`, {
      advice: `make the folder writable, or set COLIBRI_DB_PATH to ${path} instead`,
    });
  }
}
