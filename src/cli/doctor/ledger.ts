import { accessSync, constants, existsSync, realpathSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Config, locateDatabase } from '../../config.ts';
import { findUnlinkedRepository, isMainUnknown, LEDGER, linkedWorkTree } from '../../db/locate.ts';
import { SCHEMA_VERSION } from '../../db/migrate.ts';
import { loadSqlite } from '../../db/sqlite/driver.ts';
import { isThere } from '../../db/sqlite/files/file.ts';
import { isLocked, listPresenceFiles } from '../../db/sqlite/files/presence.ts';
import { toError } from '../../errors.ts';
import { listBackups } from '../../trust/backups.ts';
import { restoreCommand } from '../support/deleted-ledger.ts';
import { plural } from '../views/terminal.ts';
import { checkCoverage } from './coverage.ts';
import { type Finding, fail, failFrom, ok, UNFINISHED_ADVICE, warn } from './finding.ts';
import { checkGitListing } from './git-listing.ts';
import { readLedgerCopy } from './ledger-copy.ts';
import { checkTrust } from './trust.ts';

const LOW_BYTES = 1024 ** 3;
const FULL_BYTES = 50 * 1024 ** 2;

export async function checkLedger(config: Config): Promise<Finding[]> {
  const path = locateDatabase(config);
  const disk = checkDisk(nearestFolder(path));
  if (config.mode === 'MINIMAL') return [ok('ledger', 'not opened in mode MINIMAL'), disk];
  const unreachable = checkReachable(path);
  if (unreachable !== undefined) return [unreachable, disk];
  const trust = config.dbPath === undefined ? await checkTrust(path) : [];
  const isRefused = trust.some(({ status }) => status === 'fail');
  if (isRefused) return [...trust, ...checkPermissions(path, config), disk];
  if (!existsSync(path)) return [checkAbsent(path), ...checkSharing(config), disk];
  if (!statSync(path).isFile()) return [fail('ledger', `${path} is not a file`, 'set COLIBRI_DB_PATH to a file'), disk];
  const contents = await checkContents(path);
  return [
    ...contents,
    ...checkSharing(config),
    ...trust,
    ...checkPermissions(path, config),
    ...(await checkGitListing(path)),
    ...(await checkUse(path)),
    disk,
  ];
}

function checkReachable(path: string): Finding | undefined {
  try {
    isThere(path);
    return undefined;
  } catch (error) {
    return failFrom('ledger', toError(error));
  }
}

/** One repository has one ledger; older versions created another one in each linked work tree. */
function checkSharing({ dbPath }: Config): Finding[] {
  if (dbPath !== undefined) return [];
  const linked = linkedWorkTree();
  if (linked === undefined) return checkUnlinked();
  const own = join(linked.root, LEDGER);
  const shared = isMainUnknown(linked)
    ? warn(
        'worktree',
        `${linked.root} uses the ledger of ${linked.main}, and the main work tree has its own: git does not record where it is`,
        RECORD_MAIN,
      )
    : ok('worktree', `${linked.root} shares the ledger of its main work tree, ${linked.main}`);
  if (!existsSync(own)) return [shared];
  const fix = `read it with COLIBRI_DB_PATH=${own}, or remove it`;
  return [shared, warn('worktree', `${own} is not used: this git worktree shares another ledger`, fix)];
}

const RECORD_MAIN = 'run git config core.worktree "$(git rev-parse --show-toplevel)" in the main work tree';

function checkUnlinked(): Finding[] {
  const repository = findUnlinkedRepository();
  if (repository === undefined) return [];
  const message = `the linked work trees of ${repository} use a ledger there, and this work tree has its own: git does not record where it is`;
  return [warn('worktree', message, RECORD_MAIN)];
}

function checkAbsent(path: string): Finding {
  const folder = nearestFolder(path);
  if (!hasAccess(folder, constants.W_OK))
    return fail('ledger', `${folder} is not writable`, 'check its owner and permissions');
  const [backup] = listBackups(path);
  if (backup !== undefined)
    return warn(
      'ledger',
      `no ledger at ${path}, and there is a backup beside it`,
      `run ${restoreCommand(path, backup)}`,
    );
  return warn('ledger', `no ledger at ${path} yet`, 'start a client; its server creates the ledger');
}

async function checkContents(path: string): Promise<Finding[]> {
  try {
    const { schemaVersion, head, coverage, earlierBackup } = await readLedgerCopy(path);
    if (schemaVersion > SCHEMA_VERSION)
      return [fail('ledger', `${path} was written by a newer Colibri (schema ${schemaVersion})`, 'update Colibri')];
    if (schemaVersion < 0) return [fail('ledger', `${path} is an unfinished copy`, UNFINISHED_ADVICE)];
    if (schemaVersion < SCHEMA_VERSION)
      return [
        warn(
          'ledger',
          `${path} has schema ${schemaVersion}, this version uses ${SCHEMA_VERSION}`,
          'copy the file first; the next server that starts migrates it',
        ),
      ];
    const size =
      head === undefined ? 'large' : `${head.size} ${head.size === 1 ? 'entry' : 'entries'}, root ${head.root}`;
    return [
      ok('ledger', `${path}, schema ${schemaVersion}, ${size}`),
      ...checkEarlier(path, earlierBackup),
      ...checkCoverage(coverage),
    ];
  } catch (error) {
    return [failFrom('ledger', toError(error))];
  }
}

function checkEarlier(path: string, backup: string | undefined): Finding[] {
  if (backup === undefined) return [];
  const message = `${path} has no task, and ${backup} is a backup of an earlier ledger`;
  return [warn('ledger', message, `if that was deleted by mistake, run ${restoreCommand(path, backup)}`)];
}

function checkPermissions(path: string, { mode }: Config): Finding[] {
  if (process.platform === 'win32' || !existsSync(path)) return [];
  const open = [
    { place: path, wanted: '600' },
    { place: dirname(path), wanted: '700' },
  ].filter(({ place }) => (statSync(place).mode & 0o077) !== 0);
  const findings = open.map(({ place, wanted }) =>
    warn('permissions', `other users can read ${place}`, `run chmod ${wanted} ${place}`),
  );
  if (mode !== 'READONLY' && !(hasAccess(path, constants.W_OK) && hasAccess(dirname(path), constants.W_OK)))
    findings.push(
      fail('permissions', `${path} or its folder is not writable`, 'check their owner, or set COLIBRI_MODE=READONLY'),
    );
  return findings.length > 0 ? findings : [ok('permissions', 'readable by the owner only')];
}

/** Every live server holds a lock on its own presence file. */
async function checkUse(path: string): Promise<Finding[]> {
  const folder = dirname(realpathSync(path));
  if (!hasAccess(folder, constants.R_OK))
    return [warn('in-use', `${folder} may not be listed by this user`, 'check its owner and permissions')];
  const sqlite = await loadSqlite();
  const marks = listPresenceFiles(realpathSync(path));
  const alive = marks.filter((file) => isLocked(sqlite, file)).length;
  const dead = marks.length - alive;
  return [
    ok('in-use', alive === 0 ? 'by no server' : `by ${plural(alive, 'server')}`),
    ...(dead === 0
      ? []
      : [
          warn(
            'in-use',
            `${plural(dead, 'server')} died`,
            'nothing to do: the next server that starts closes their calls',
          ),
        ]),
  ];
}

function checkDisk(folder: string): Finding {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const message = `${(free / 1024 ** 3).toFixed(1)} GiB free`;
  const fix = `free space on the disk of ${folder}`;
  if (free < FULL_BYTES) return fail('disk', message, fix);
  return free < LOW_BYTES ? warn('disk', message, fix) : ok('disk', message);
}

function nearestFolder(path: string): string {
  const folder = dirname(path);
  return existsSync(folder) ? folder : nearestFolder(folder);
}

function hasAccess(path: string, access: number): boolean {
  try {
    accessSync(path, access);
    return true;
  } catch {
    return false;
  }
}
