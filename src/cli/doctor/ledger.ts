import { accessSync, constants, existsSync, realpathSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Config, locateDatabase } from '../../config.ts';
import { LEDGER, linkedWorkTree } from '../../db/locate.ts';
import { SCHEMA_VERSION } from '../../db/migrate.ts';
import { loadSqlite } from '../../db/sqlite/driver.ts';
import { isLocked, listPresenceFiles } from '../../db/sqlite/files/presence.ts';
import { toError } from '../../errors.ts';
import { type Finding, fail, failFrom, ok, UNFINISHED_ADVICE, warn } from './finding.ts';
import { readLedgerCopy } from './ledger-copy.ts';
import { checkTrust } from './trust.ts';

const LOW_BYTES = 1024 ** 3;
const FULL_BYTES = 50 * 1024 ** 2;

export async function checkLedger(config: Config): Promise<Finding[]> {
  const path = locateDatabase(config);
  const disk = checkDisk(nearestFolder(path));
  if (config.mode === 'MINIMAL') return [ok('ledger', 'none is opened in mode MINIMAL'), disk];
  const trust = config.dbPath === undefined ? await checkTrust(path) : [];
  const isRefused = trust.some(({ status }) => status === 'fail');
  if (isRefused) return [...trust, ...checkPermissions(path, config), disk];
  if (!existsSync(path)) return [checkAbsent(path), ...checkSharing(config), disk];
  if (!statSync(path).isFile()) return [fail('ledger', `${path} is not a file`, 'set COLIBRI_DB_PATH to a file'), disk];
  const contents = await checkContents(path);
  return [
    contents,
    ...checkSharing(config),
    ...trust,
    ...checkPermissions(path, config),
    ...(await checkUse(path)),
    disk,
  ];
}

/** One repository has one ledger; an own one in a linked work tree dates from a version that made it there. */
function checkSharing({ dbPath }: Config): Finding[] {
  const linked = dbPath === undefined ? linkedWorkTree() : undefined;
  if (linked === undefined) return [];
  const own = join(linked.root, LEDGER);
  const shared = ok('worktree', `${linked.root} shares the ledger of its main work tree, ${linked.main}`);
  if (!existsSync(own)) return [shared];
  const fix = `read it with COLIBRI_DB_PATH=${own}, or remove it`;
  return [shared, warn('worktree', `${own} is not used: this git worktree shares another ledger`, fix)];
}

function checkAbsent(path: string): Finding {
  const folder = nearestFolder(path);
  if (!may(folder, constants.W_OK))
    return fail('ledger', `${folder} may not be written`, 'check its owner and permissions');
  return warn('ledger', `there is none yet at ${path}`, 'the first start of the server makes it; a client does that');
}

async function checkContents(path: string): Promise<Finding> {
  try {
    const { schemaVersion, head } = await readLedgerCopy(path);
    if (schemaVersion > SCHEMA_VERSION)
      return fail('ledger', `${path} was written by a newer Colibri (schema ${schemaVersion})`, 'update Colibri');
    if (schemaVersion < 0) return fail('ledger', `${path} is a copy that is not finished`, UNFINISHED_ADVICE);
    if (schemaVersion < SCHEMA_VERSION)
      return warn(
        'ledger',
        `${path} has schema ${schemaVersion}, this version uses ${SCHEMA_VERSION}`,
        'the next start of the server brings it up to date; make a copy first',
      );
    const size = head === undefined ? 'large' : `${head.size} entries, root ${head.root}`;
    return ok('ledger', `${path}, schema ${schemaVersion}, ${size}`);
  } catch (error) {
    return failFrom('ledger', toError(error));
  }
}

function checkPermissions(path: string, { mode }: Config): Finding[] {
  if (process.platform === 'win32' || !existsSync(path)) return [];
  const open = [
    { place: path, wanted: '600' },
    { place: dirname(path), wanted: '700' },
  ].filter(({ place }) => (statSync(place).mode & 0o077) !== 0);
  const findings = open.map(({ place, wanted }) =>
    warn('permissions', `other users may read ${place}`, `chmod ${wanted} ${place}`),
  );
  if (mode !== 'READONLY' && !(may(path, constants.W_OK) && may(dirname(path), constants.W_OK)))
    findings.push(
      fail(
        'permissions',
        `${path} or its folder may not be written`,
        'check their owner, or use COLIBRI_MODE=READONLY',
      ),
    );
  return findings.length > 0 ? findings : [ok('permissions', 'for the owner only')];
}

/** Every server holds a lock on a file of its own for as long as it lives. */
async function checkUse(path: string): Promise<Finding[]> {
  const sqlite = await loadSqlite();
  const marks = listPresenceFiles(realpathSync(path));
  const living = marks.filter((file) => isLocked(sqlite, file)).length;
  const dead = marks.length - living;
  return [
    ok('in-use', living === 0 ? 'by no server' : `by ${living} server${living === 1 ? '' : 's'}`),
    ...(dead === 0
      ? []
      : [warn('in-use', `${dead} server(s) died`, 'nothing to do: the next start closes their calls')]),
  ];
}

function checkDisk(folder: string): Finding {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const says = `${(free / 1024 ** 3).toFixed(1)} GiB free`;
  const mend = `free some space on the disk of ${folder}`;
  if (free < FULL_BYTES) return fail('disk', says, mend);
  return free < LOW_BYTES ? warn('disk', says, mend) : ok('disk', says);
}

function nearestFolder(path: string): string {
  const folder = dirname(path);
  return existsSync(folder) ? folder : nearestFolder(folder);
}

function may(path: string, access: number): boolean {
  try {
    accessSync(path, access);
    return true;
  } catch {
    return false;
  }
}
