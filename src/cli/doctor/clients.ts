import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { findHomeFolder } from '../../home-folder.ts';
import { CLIENTS, type Client, detectClients, SERVER_NAME } from '../init/clients.ts';
import { InitError } from '../init/init-error.ts';
import { isOwnEntry, isSetting, isSwitchedOff, readEntry, withoutVariables } from '../init/launch-command.ts';
import { bodyOf, type ConfigFile, readConfigFile, type Site } from '../init/plan.ts';
import { findProjectRoot } from '../init/project-root.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import { type Seen, shakeHands } from './handshake.ts';

/**
 * Starts what each client would start. A project's configuration may have come with a clone: unless `runAll` is set, a
 * command from it runs only if init would write the same.
 */
export async function checkClients(runAll: boolean): Promise<Finding[]> {
  const root = findProjectRoot();
  const home = findHomeFolder();
  const here = detectClients(root);
  const inHome = home === undefined ? [] : CLIENTS.filter((client) => isConfigured(client, home));
  const clients = CLIENTS.filter((client) => here.includes(client) || inHome.includes(client));
  if (clients.length === 0)
    return [warn('clients', `no client has files in ${root}`, 'name yours, for example: colibri init claude-code')];
  const sites = [{ root, isGlobal: false }, ...(home === undefined ? [] : [{ root: home, isGlobal: true }])];
  const findings = await Promise.all(clients.map((client) => checkClient(client, sites, { root, runAll })));
  return findings.flat();
}

interface CheckOptions {
  readonly root: string;
  readonly runAll: boolean;
}

async function checkClient(client: Client, sites: readonly Site[], options: CheckOptions): Promise<Finding[]> {
  try {
    const files = sites.flatMap((site) => {
      const file = readConfigFile(client, site);
      return file?.current === undefined ? [] : [{ file, site }];
    });
    const renamed = sites.flatMap((site) => listRenamed(client, site));
    if (renamed.length > 0 && files.length === 0) return renamed;
    if (files.length === 0) {
      const scope = client.project.length === 0 ? '--global ' : '';
      const fix = `run colibri init ${scope}${client.id}`;
      return [warn(client.id, `${client.name} is used here but not connected to Colibri`, fix)];
    }
    return [...renamed, ...(await Promise.all(files.map(({ file, site }) => checkEntry(client, file, site, options))))];
  } catch (error) {
    if (!(error instanceof InitError)) throw error;
    return [fail(client.id, error.problem, `fix that file; ${client.name} cannot read it either`)];
  }
}

/** The recorder knows the server by its name; under another one, only by what it answers. */
function listRenamed(client: Client, site: Site): Finding[] {
  const file = readConfigFile(client, site);
  if (file?.text === undefined) return [];
  const servers = file.format.find(bodyOf(file.text), file.keys.slice(0, -1));
  const names = Object.entries(servers ?? {}).flatMap(([name, entry]) =>
    !name.toLowerCase().includes(SERVER_NAME) && startsColibri(entry) ? [name] : [],
  );
  const path = site.isGlobal ? `~/${file.path}` : file.path;
  const problem = (name: string) =>
    `${path} starts Colibri as ${name}: the recorder may not see which task a session holds, and doctor does not test it`;
  return names.map((name) => warn(client.id, problem(name), `rename ${name} to ${SERVER_NAME}`));
}

function startsColibri(entry: unknown): boolean {
  if (typeof entry !== 'object' || entry === null) return false;
  return readEntry(entry).words.some((word) => /(?:^|[/\\])colibri(?:-mcp(?:@[\w.+-]+)?|\.c?js)?$/.test(word));
}

async function checkEntry(client: Client, file: ConfigFile, site: Site, options: CheckOptions): Promise<Finding> {
  const { words, variables } = readEntry(file.current);
  const path = site.isGlobal ? `~/${file.path}` : file.path;
  const line = words.join(' ');
  const repair = `run colibri init --replace ${site.isGlobal ? '--global ' : ''}${client.id}`;
  if (words.length === 0) return warn(client.id, `${path} has a colibri entry without a command, not tested`, repair);
  if (isSwitchedOff(file.current))
    return warn(client.id, `${path} has colibri switched off, not tested`, `switch it on in ${client.name}`);
  const missing = words.find((word) => isAbsolute(word) && !existsSync(word));
  if (missing !== undefined) return fail(client.id, `${path} starts ${missing}, which does not exist`, repair);
  const isOwn = (isLeftOut: (name: string) => boolean) =>
    isOwnEntry(client, withoutVariables(file.current, isLeftOut), { anyVersion: false });
  if (!site.isGlobal && !options.runAll && !isOwn(isSetting)) {
    const others = Object.keys(variables).filter((name) => !isSetting(name) && name !== 'COLIBRI_AGENT_ID');
    const what = isOwn((name) => isSetting(name) || others.includes(name))
      ? `starts Colibri with other variables (${others.join(', ')})`
      : 'starts another program';
    return warn(
      client.id,
      `${path} ${what}, which was not tested, because the file may have come with a clone: ${line}`,
      `${repair}, or run colibri doctor --run if you trust that command`,
    );
  }
  return toFinding(client, `${path} starts ${line}`, await shakeHands(words, variables, options.root), repair);
}

function toFinding(client: Client, started: string, seen: Seen, repair: string): Finding {
  if (seen.kind === 'failed') return fail(client.id, `${started}: ${seen.reason}`, repair);
  if (seen.kind === 'noise')
    return fail(client.id, `${started}, which writes text to stdout before the protocol: ${seen.line}`, repair);
  if (seen.name !== 'colibri') return warn(client.id, `${started}, which answers as ${seen.name}`, repair);
  return ok(client.id, `${started}: colibri ${seen.version} answers`);
}

/** A file of a client that is not used here may be unreadable. */
function isConfigured(client: Client, home: string): boolean {
  try {
    return readConfigFile(client, { root: home, isGlobal: true })?.current !== undefined;
  } catch {
    return false;
  }
}
