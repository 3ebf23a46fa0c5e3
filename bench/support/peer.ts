import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Peer {
  readonly name: string;
  readonly version: string;
  /** Below node_modules. */
  readonly program: string;
}

/** Another task server; it neither audits nor syncs what it acknowledges. */
export const PEER: Peer = {
  name: 'mcp-task-manager-server',
  version: '0.1.0',
  program: 'mcp-task-manager-server/dist/server.js',
};

/** The path of its program, installed on first use. */
export function installPeer({ name, version, program }: Peer): string {
  const folder = join(tmpdir(), `colibri-bench-${name}-${version}-node-${process.versions.modules}`);
  const path = join(folder, 'node_modules', program);
  if (existsSync(path)) return path;
  console.error(`installing ${name}; its native modules may have to be compiled`);
  mkdirSync(folder, { recursive: true });
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', folder, `${name}@${version}`];
  const { status } = spawnSync('npm', args, { cwd: folder, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error(`${name} could not be installed; leave it out`);
  return path;
}
