import { spawnSync } from 'node:child_process';

/**
 * What starts a program that may not do everything: root may write everywhere, unless it gives that up. Undefined where
 * this machine cannot do so.
 */
export function launcherWithoutRoot(): readonly string[] | undefined {
  if (process.platform === 'win32') return undefined;
  if (process.getuid?.() !== 0) return [];
  const args = ['--bounding-set=-dac_override,-dac_read_search', '--'];
  return spawnSync('setpriv', [...args, 'true']).status === 0 ? ['setpriv', ...args] : undefined;
}
