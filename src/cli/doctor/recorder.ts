import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, rmdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Config, createEnvironment, locateDatabase, TEST_SESSION } from '../../config.ts';
import { serverConfig } from '../../db/locate.ts';
import { toError } from '../../errors.ts';
import { findHomeFolder } from '../../home-folder.ts';
import { parseJson } from '../../integrity/index.ts';
import { listOwnSpool } from '../../recorder/own-spool.ts';
import { countDropped, countRejected, hasSpool, spoolOf, takeTestEvents } from '../../recorder/spool.ts';
import { CLIENTS } from '../init/clients.ts';
import { HOOK_TARGETS, type HookTarget } from '../init/hooks/hook-targets.ts';
import { type InstalledHooks, readInstalledHooks } from '../init/hooks/installed-hooks.ts';
import { findOffSwitch } from '../init/hooks/off-switch.ts';
import { findOtherLedger, type OtherLedger } from '../init/hooks/other-ledger.ts';
import { InitError } from '../init/init-error.ts';
import type { Site } from '../init/plan.ts';
import { findProjectRoot } from '../init/project-root.ts';
import { plural } from '../views/terminal.ts';
import { endGroup, trackGroup } from './child-groups.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import { collect, describeEnd } from './handshake.ts';
import { createTestEvent, type TestEvent } from './test-events.ts';

const CHECK = 'recorder';
/** npx may have to download the package first. */
const TIMEOUT_MS = 60_000;

/**
 * Sends an event through each command that is registered with a client, and looks for it where servers read. As for
 * servers, a command from the project runs only if init would write the same, unless `runAll` is set.
 */
export async function checkRecorder(config: Config, runAll: boolean): Promise<Finding[]> {
  const root = findProjectRoot();
  const home = findHomeFolder();
  const ledger = locateDatabase(serverConfig(config));
  const spool = spoolOf(ledger);
  const hadSpool = existsSync(spool);
  const sites: Site[] = [{ root, isGlobal: false }, ...(home === undefined ? [] : [{ root: home, isGlobal: true }])];
  const options = { root, home, ledger, spool, dbPath: config.dbPath, runAll };
  const findings: Finding[] = [];
  for (const site of sites)
    for (const target of HOOK_TARGETS) findings.push(...(await checkTarget(target, site, options)));
  if (!hadSpool) removeEmpty(spool);
  return [...findings, ...checkSpool(spool)];
}

interface CheckOptions {
  readonly root: string;
  readonly home: string | undefined;
  readonly ledger: string;
  readonly spool: string;
  readonly dbPath: string | undefined;
  readonly runAll: boolean;
}

async function checkTarget(target: HookTarget, site: Site, options: CheckOptions): Promise<Finding[]> {
  const fix = `run colibri init --record --replace ${site.isGlobal ? '--global ' : ''}${target.clients.join(' ')}`;
  let installed: InstalledHooks | undefined;
  try {
    installed = readInstalledHooks(target, site);
  } catch (error) {
    // A file without hooks of Colibri may be in any state.
    if (error instanceof InitError) return [];
    throw error;
  }
  if (installed === undefined) return [];
  const path = site.isGlobal ? `~/${installed.path}` : installed.path;
  if (!existsSync(dirname(options.spool)))
    return [warn(CHECK, `${path} records nothing here: there is no ${dirname(options.spool)}`, 'run colibri init')];
  const mayRun = installed.isOwn || ((site.isGlobal || options.runAll) && installed.lines.length > 0);
  if (!mayRun)
    return [
      warn(
        CHECK,
        `${path} has a hook of Colibri that init would not write; not tested, because the file may have come with a clone`,
        `${fix}, or run colibri doctor --run if you trust what the file starts`,
      ),
    ];
  for (const { event, line } of installed.lines) {
    const problem = await sendTestEvent(target.clients[0] as string, event, line, options);
    if (problem !== undefined) return [fail(CHECK, `${path}, ${event}: ${line}: ${problem}`, fix)];
  }
  if (installed.missing.length > 0)
    return [warn(CHECK, `${path} does not report ${installed.missing.join(', ')}`, fix)];
  const events = plural(installed.lines.length, 'command');
  return [
    ...warnOfOffSwitch(target, options),
    ...warnOfOtherLedgers(target, options),
    ok(CHECK, `${path}: a test event passed through ${events} to ${options.spool}`),
  ];
}

/** The command works, and the client does not run it. */
function warnOfOffSwitch(target: HookTarget, options: CheckOptions): Finding[] {
  const found = findOffSwitch(target, options);
  const names = CLIENTS.filter(({ id }) => target.clients.includes(id)).map(({ name }) => name);
  return found === undefined
    ? []
    : [warn(CHECK, `${found}, so ${names.join(' and ')} runs no hook of Colibri`, 'remove that setting')];
}

/** A server that a variable leads to another ledger never reads what the hooks report here. */
function warnOfOtherLedgers({ clients }: HookTarget, { root, home, ledger, spool }: CheckOptions): Finding[] {
  const sites: Site[] = [{ root, isGlobal: false }, ...(home === undefined ? [] : [{ root: home, isGlobal: true }])];
  return CLIENTS.filter(({ id }) => clients.includes(id)).flatMap((client) =>
    sites.flatMap((site) => {
      const found = findIn(client, site, { project: root, ledger });
      if (found === undefined) return [];
      const { path, assignment } = found;
      const problem = `${path} has ${assignment}: that server reads another spool than ${spool}, where hooks report`;
      return [warn(CHECK, problem, `set ${assignment} where ${client.name} starts, too, or remove it from ${path}`)];
    }),
  );
}

/** The check of the clients reports a file that cannot be read. */
function findIn(...args: Parameters<typeof findOtherLedger>): OtherLedger | undefined {
  try {
    return findOtherLedger(...args);
  } catch (error) {
    if (error instanceof InitError) return undefined;
    throw error;
  }
}

/** Undefined if the event arrived. */
async function sendTestEvent(
  id: string,
  event: string,
  line: string,
  { root, spool, dbPath }: CheckOptions,
): Promise<string | undefined> {
  const session = `doctor-${randomBytes(16).toString('hex')}`;
  const { client, payload } = createTestEvent(id, event, session, root);
  const env = createEnvironment({ [TEST_SESSION]: session, ...(dbPath !== undefined && { COLIBRI_DB_PATH: dbPath }) });
  const { problem, said } = await runLine(line, payload, env, root);
  if (problem !== undefined) return problem;
  try {
    const arrived = takeTestEvents(spool).map((text) => parseJson(text) as { session: string; client: string });
    const found = arrived.find((candidate) => candidate.session === session);
    if (found === undefined) return `a test event did not arrive in ${spool}${said && `: ${said}`}`;
    return found.client === client ? undefined : `a test event arrived as one of ${found.client}`;
  } catch (error) {
    return toError(error).message;
  }
}

interface Ran {
  readonly problem?: string;
  /** The beginning of what it wrote to standard error. */
  readonly said: string;
}

/** Runs the command line in a shell, as clients do. A hook exits with 0 and has nothing to print. */
function runLine(line: string, payload: TestEvent['payload'], env: NodeJS.ProcessEnv, cwd: string) {
  return new Promise<Ran>((resolve) => {
    const child = spawn(line, { cwd, env, stdio: 'pipe', shell: true, detached: process.platform !== 'win32' });
    trackGroup(child);
    const [output, errors] = [collect(child.stdout), collect(child.stderr)];
    const finish = (problem?: string): void => {
      clearTimeout(timer);
      child.removeAllListeners().on('error', () => undefined);
      endGroup(child, 'SIGKILL');
      resolve({ ...(problem !== undefined && { problem }), said: errors().trim().slice(0, 300) });
    };
    const timer = setTimeout(() => finish(`it did not end within ${TIMEOUT_MS / 1000} s`), TIMEOUT_MS);
    child.on('error', ({ message }) => finish(message));
    child.on('close', (code, signal) => {
      if (code !== 0) finish(describeEnd(code, signal, errors()));
      else if (output() === '') finish();
      else finish(`it writes to standard output: ${output().slice(0, 80)}`);
    });
    // A command that ended at once is reported by its exit code.
    child.stdin.on('error', () => undefined);
    child.stdin.end(JSON.stringify(payload));
  });
}

function checkSpool(spool: string): Finding[] {
  try {
    if (!hasSpool(spool)) return [];
    const [dropped, rejected, waiting] = [countDropped(spool), countRejected(spool), listOwnSpool(spool).length];
    const restart = 'start a client, or run any colibri command that writes, to add waiting events to the ledger';
    return [
      ...(waiting > 0 ? [warn(CHECK, `${plural(waiting, 'event')} in ${spool} not in the ledger yet`, restart)] : []),
      ...(dropped > 0
        ? [warn(CHECK, `${plural(dropped, 'event')} lost: no space or no time to store them in ${spool}`, restart)]
        : []),
      ...(rejected > 0
        ? [
            warn(
              CHECK,
              `${plural(rejected, 'file')} in ${spool} that no hook wrote`,
              'look at the files and remove them',
            ),
          ]
        : []),
    ];
  } catch (error) {
    return [fail(CHECK, toError(error).message, 'remove that folder; the next hook creates it')];
  }
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // A hook has written to it in the meantime, or it was not created.
  }
}
