import { resolve } from 'node:path';
import type { Client } from '../clients.ts';
import { readEntry } from '../launch-command.ts';
import { readConfigFile, type Site } from '../plan.ts';

const VARIABLE = 'COLIBRI_DB_PATH';

/** A server whose configuration names a ledger of its own, beside which it looks for events. */
export interface OtherLedger {
  /** The configuration file. */
  readonly path: string;
  /** The variable as a shell takes it. */
  readonly assignment: string;
  readonly ledger: string;
}

/** Undefined if hooks and the client's server use the same ledger. A relative path is one from the project. */
export function findOtherLedger(
  client: Client,
  site: Site,
  { project, ledger }: { readonly project: string; readonly ledger: string },
): OtherLedger | undefined {
  const file = readConfigFile(client, site);
  const named = readEntry(file?.current).variables[VARIABLE];
  if (file === undefined || named === undefined || named === '') return undefined;
  const other = resolve(project, named);
  if (other === resolve(project, ledger)) return undefined;
  const path = site.isGlobal ? `~/${file.path}` : file.path;
  return { path, assignment: `${VARIABLE}=${named}`, ledger: other };
}
