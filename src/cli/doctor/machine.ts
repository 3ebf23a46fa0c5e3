import { hasBuiltInSqlite, loadSqlite } from '../../db/sqlite/driver.ts';
import { AdvisedError, toError } from '../../errors.ts';
import { readVersion } from '../../version.ts';
import { type Finding, fail, failFrom, ok } from './finding.ts';

const OLDEST_NODE = [20, 19] as const;

export function checkMachine(): Finding[] {
  return [ok('colibri', readVersion()), checkNode(process.versions.node)];
}

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return ok('node', version);
  return fail('node', `${version} is too old`, `install Node ${OLDEST_NODE.join('.')} or later`);
}

export async function checkSqlite(): Promise<Finding> {
  const isBuiltIn = hasBuiltInSqlite(process.versions.node);
  const library = isBuiltIn ? 'node:sqlite' : 'better-sqlite3';
  try {
    const driver = (await loadSqlite()).open(':memory:', { readOnly: false });
    const [row] = driver.prepare('SELECT sqlite_version() AS version').all([]) as { version: string }[];
    driver.close();
    return ok('sqlite', `${row?.version} (${library})`);
  } catch (error) {
    if (!isBuiltIn || error instanceof AdvisedError) return failFrom('sqlite', toError(error));
    return fail('sqlite', `${library} cannot be loaded: ${toError(error).message.split('\n')[0]}`, 'reinstall Node');
  }
}
