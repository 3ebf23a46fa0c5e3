import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { findHomeFolder } from '../../home-folder.ts';
import { type Client, detectClients } from '../init/clients.ts';
import { InitError } from '../init/init-error.ts';
import { type ConfigFile, readConfigFile } from '../init/plan.ts';
import { findProjectRoot } from '../init/project-root.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

export function checkClients(): Finding[] {
  const root = findProjectRoot();
  const clients = detectClients(root);
  if (clients.length === 0)
    return [warn('clients', `no client has files in ${root}`, 'name yours, for example: colibri init claude-code')];
  return clients.map((client) => checkClient(client, root));
}

function checkClient(client: Client, root: string): Finding {
  const check = client.id;
  try {
    const home = findHomeFolder();
    const sites = [{ root, isGlobal: false }, ...(home === undefined ? [] : [{ root: home, isGlobal: true }])];
    const file = sites
      .map((site) => readConfigFile(client, site))
      .find((candidate) => candidate?.current !== undefined);
    if (file === undefined)
      return warn(check, `${client.name} is used here but not connected to Colibri`, `run colibri init ${client.id}`);
    const missing = findMissingProgram(file);
    if (missing !== undefined)
      return fail(
        check,
        `${file.path} starts ${missing}, which does not exist`,
        `run colibri init --undo ${client.id}, then colibri init ${client.id}`,
      );
    return ok(check, `${file.path} starts Colibri`);
  } catch (error) {
    if (!(error instanceof InitError)) throw error;
    return fail(check, error.problem, `fix that file; ${client.name} cannot read it either`);
  }
}

/** A path in the entry that no longer exists, as after a clone was moved. */
function findMissingProgram({ current }: ConfigFile): string | undefined {
  const { command, args } = current as { command?: unknown; args?: unknown };
  return [command, args].flat().find((word) => typeof word === 'string' && isAbsolute(word) && !existsSync(word)) as
    | string
    | undefined;
}
