import { chmodSync, cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder of the running test's own, gone when the test is. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'colibri-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Copies a project with its ledger. Node 22 and later do not copy the permissions of folders. */
export function copyProject(source: string, target: string): void {
  cpSync(source, target, { recursive: true });
  const folder = join(target, '.colibri');
  if (existsSync(folder)) chmodSync(folder, 0o700);
}

/** The files below a folder of this repository whose names end so, as paths from its root. */
export function listFiles(folder: string, suffix: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(suffix))
    .map((name) => join(folder, name));
}
