import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Another task server; it neither audits nor syncs what it acknowledges. */
export const PEER = { name: 'mcp-task-manager-server', version: '0.1.0' };

/** The path of its program, installed on first use. */
export function installPeer(): string {
  const folder = join(tmpdir(), `colibri-bench-${PEER.name}-${PEER.version}-node-${process.versions.modules}`);
  const program = join(folder, 'node_modules', PEER.name, 'dist', 'server.js');
  if (existsSync(program)) return program;
  console.error(`installing ${PEER.name}; its SQLite module may have to be compiled`);
  mkdirSync(folder, { recursive: true });
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', folder, `${PEER.name}@${PEER.version}`];
  const { status } = spawnSync('npm', args, { cwd: folder, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error(`${PEER.name} could not be installed; leave the case "peer" out`);
  return program;
}
