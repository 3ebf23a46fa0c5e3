import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';
import { tempFolder } from '../support/folders.ts';
import { cleanEnvironment, PROGRAM, runColibriSync } from '../support/program.ts';

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built program as a person would, in a folder and with a home of its own. */
export function runProgram(
  args: readonly string[],
  {
    cwd,
    home = join(dirname(cwd), 'no-home'),
    env = {},
  }: { cwd: string; home?: string; env?: Readonly<Record<string, string | undefined>> },
): Ran {
  mkdirSync(cwd, { recursive: true });
  const variables = { PATH: process.env['PATH'], HOME: home, USERPROFILE: home, COLIBRI_KEY_PATH: 'none', ...env };
  const given = Object.entries(variables).filter((variable): variable is [string, string] => variable[1] !== undefined);
  const { status, stdout, stderr } = runColibriSync({ args, cwd, env: Object.fromEntries(given) });
  return { code: status, stdout, stderr };
}

/** A client of the built program over real pipes; both are gone when the test ends. */
export async function openProgram(cwd: string, env: Record<string, string> = {}) {
  const { client, log, close } = await connectProgram(cwd, env);
  onTestFinished(close);
  return { client, log };
}

/** The same for those who close it themselves. */
export async function connectProgram(cwd: string, env: Record<string, string> = {}) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM],
    cwd,
    env: cleanEnvironment(env),
    stderr: 'pipe',
  });
  const log: Record<string, unknown>[] = [];
  let rest = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString('utf8')).split('\n');
    rest = lines.pop() ?? '';
    log.push(...lines.map((line) => JSON.parse(line) as Record<string, unknown>));
  });
  const client = new Client({ name: 'test-client', version: '1' });
  await client.connect(transport);
  return { client, log, close: () => client.close() };
}

/** A project with these files, and a home folder beside it. */
export function makeProject(files: Record<string, string | Buffer> = {}, home: Record<string, string> = {}) {
  const folder = tempFolder();
  const root = join(folder, 'project');
  const homeFolder = join(folder, 'home');
  mkdirSync(join(root, '.git'), { recursive: true });
  mkdirSync(homeFolder);
  for (const [path, text] of Object.entries(files)) put(root, path, text);
  for (const [path, text] of Object.entries(home)) put(homeFolder, path, text);
  return {
    root,
    home: homeFolder,
    run: (...args: string[]) => runProgram(args, { cwd: root, home: homeFolder }),
    read: (path: string) => readFileSync(join(root, path), 'utf8'),
    readJson: (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8')) as unknown,
    put: (path: string, text: string | Buffer) => put(root, path, text),
    /** Everything in project and home: paths, kinds, permissions and contents. */
    snapshot: () => snapshot(folder),
  };
}

function put(root: string, path: string, text: string | Buffer): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

export function snapshot(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return Object.fromEntries(
    paths.map((path) => {
      const file = join(folder, path);
      const stats = lstatSync(file);
      const mode = (stats.mode & 0o777).toString(8);
      if (stats.isSymbolicLink()) return [path, `link to ${readlinkSync(file)}`];
      return [path, stats.isFile() ? `${mode} ${readFileSync(file, 'base64')}` : `${mode} folder`];
    }),
  );
}
