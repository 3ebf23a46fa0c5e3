// A scratch home folder and a scratch git repository: a client neither reads nor changes anything of the user.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as setTimeoutAsync } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CHECK_PROGRAM } from './session.mjs';

const PROGRAM = fileURLToPath(new URL('../../dist/colibri.cjs', import.meta.url));
const KILL_DELAY_MS = 5000;
const POLL_MS = 50;

export function createWorkspace(name) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `colibri-clients-${name}-`)));
  const [home, project] = [join(folder, 'home'), join(folder, 'project')];
  const env = environment(home);
  const run = (command, ...args) => runToEnd(command, args, { cwd: project, env });
  for (const path of [home, project, join(folder, 'tmp')]) mkdirSync(path);
  writeFileSync(join(project, 'check.mjs'), CHECK_PROGRAM);
  writeFileSync(join(project, '.gitignore'), '.colibri/\n');
  must(run('git', 'init', '-q', '-b', 'main'));
  // In the repository: Gemini CLI hides the user's configuration of git from its shell.
  for (const [name, value] of Object.entries({ name: 'Scripted', email: 'scripted@example.com' }))
    must(run('git', 'config', `user.${name}`, value));
  must(run('git', 'add', '-A'));
  must(run('git', 'commit', '-q', '-m', 'Start'));
  const write = (base, path, content) => {
    const file = join(base, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, undefined, 2));
  };
  return {
    folder,
    home,
    project,
    env,
    run,
    colibri: (...args) => run(process.execPath, PROGRAM, ...args),
    write,
    /** Adds members to a JSON file that `init` may have written. */
    merge: (base, path, members) => {
      const file = join(base, path);
      write(base, path, { ...(existsSync(file) && JSON.parse(readFileSync(file, 'utf8'))), ...members });
    },
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
}

/** Only what a program needs to run: no proxy, token or setting of the user. */
function environment(home) {
  return {
    HOME: home,
    USERPROFILE: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: join(home, '.local/share'),
    XDG_STATE_HOME: join(home, '.local/state'),
    XDG_CACHE_HOME: join(home, '.cache'),
    TMPDIR: join(dirname(home), 'tmp'),
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    NO_COLOR: '1',
    GIT_CONFIG_NOSYSTEM: '1',
  };
}

function runToEnd(command, args, options) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { ...options, encoding: 'utf8', input: '' });
  return { status, stdout: stdout ?? '', stderr: stderr || (error?.message ?? '') };
}

export function must({ status, stdout, stderr }) {
  if (status !== 0) throw new Error(`the preparation failed: ${stdout}${stderr}`);
}

/** Runs a client in a process group of its own, which ends with it or with the time limit. */
export async function runLimited([command, ...args], { cwd, env, timeoutMs }) {
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (text) => (texts[name] += text));
  let isLate = false;
  const kill = () => killGroup(child, 'SIGKILL');
  // This also runs if a person interrupts the run.
  process.prependOnceListener('exit', kill);
  const timers = [
    setTimeout(() => {
      isLate = true;
      killGroup(child, 'SIGTERM');
    }, timeoutMs),
    setTimeout(kill, timeoutMs + KILL_DELAY_MS),
  ];
  try {
    const [status] = await once(child, 'exit');
    if (!isLate) await groupEnd(child);
    return { status, isLate, ...texts };
  } catch (error) {
    return { status: null, isLate, ...texts, stderr: error.message };
  } finally {
    for (const timer of timers) clearTimeout(timer);
    kill();
    process.off('exit', kill);
  }
}

/** The servers that a client has started close their ledger after it has ended. */
async function groupEnd({ pid }) {
  for (let waited = 0; waited < KILL_DELAY_MS && isAlive(-pid); waited += POLL_MS) await setTimeoutAsync(POLL_MS);
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function killGroup({ pid }, signal) {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // The process has already exited.
  }
}
