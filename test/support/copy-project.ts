import { chmodSync, cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';

/** Copies a project with its ledger. Node 22 and later do not copy the permissions of folders. */
export function copyProject(source: string, target: string): void {
  cpSync(source, target, { recursive: true });
  const folder = join(target, '.colibri');
  if (existsSync(folder)) chmodSync(folder, 0o700);
}
