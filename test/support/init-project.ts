import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder, runProgram } from './init-program.ts';

/** A project with these files, and a home folder beside it. */
export function makeProject(files: Record<string, string | Buffer> = {}, home: Record<string, string> = {}) {
  const folder = makeFolder();
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
