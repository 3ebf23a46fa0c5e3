import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { findHomeFolder } from '../../home-folder.ts';
import { type Client, detectClients } from '../init/clients.ts';
import { type ConfigFile, readConfigFile } from '../init/plan.ts';
import { findProjectRoot } from '../init/project-root.ts';
import { Refusal } from '../init/refusal.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

export function checkClients(): Finding[] {
  const root = findProjectRoot();
  const clients = detectClients(root);
  if (clients.length === 0)
    return [
      warn('clients', `no client has left traces in ${root}`, 'name yours, for example: colibri init claude-code'),
    ];
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
      return warn(check, `${client.name} is here and does not know Colibri`, `colibri init ${client.id}`);
    const missing = findMissingProgram(file);
    if (missing !== undefined)
      return fail(
        check,
        `${file.path} starts ${missing}, which is not there`,
        `colibri init --undo ${client.id}, then colibri init ${client.id}`,
      );
    return ok(check, `${file.path} starts Colibri`);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return fail(
      check,
      error.message.replace(/; nothing was changed$/, ''),
      'mend that file; its client cannot read it either',
    );
  }
}

/** A path that an entry names and that is gone, as after a moved clone. */
function findMissingProgram({ current }: ConfigFile): string | undefined {
  const { command, args } = current as { command?: unknown; args?: unknown };
  return [command, args].flat().find((word) => typeof word === 'string' && isAbsolute(word) && !existsSync(word)) as
    | string
    | undefined;
}
