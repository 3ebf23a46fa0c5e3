import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, it, onTestFinished } from 'vitest';
import { tempFolder } from '../folders.ts';
import { cleanEnvironment, fixturePath, PROGRAM, runCommand } from '../program.ts';

/** Starts the host as a test does, sends a request, says so and waits. The host keeps the output open, too. */
const PARENT = `
  mkfifo requests answers
  "$0" "$1" "$2" $$ 3<requests 4>answers &
  exec 3>requests 4<answers
  printf '%s\\n' "$3" >&3
  echo sent
  read answer <&4; read next <&4`;

describe('the process that runs the commands of the tests', () => {
  for (const args of [['log', '--follow'], ['--version']])
    it(`ends with the tests while it runs ${args.join(' ')}`, async () => {
      const cwd = tempFolder();
      const env = cleanEnvironment({ COLIBRI_DB_PATH: join(cwd, 'colibri.db') });
      await runCommand({ args: ['add', 'a task'], cwd, env });
      const request = JSON.stringify({ args, env, cwd, stdin: '' });
      const host = [process.execPath, fixturePath('command-host'), PROGRAM];
      const parent = spawn('sh', ['-c', PARENT, ...host, request], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
      onTestFinished(() => void parent.kill('SIGKILL'));
      await once(parent.stdout, 'data');
      const isOver = once(parent.stdout.resume(), 'end');
      parent.kill('SIGKILL');
      await isOver;
    });
});
