import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The command line of a program that npm installed as an optional package of this platform. */
export function findNative(folder, name, path) {
  const modules = join(folder, 'node_modules');
  const packages = readdirSync(modules).flatMap((entry) =>
    entry.startsWith('@') ? readdirSync(join(modules, entry)).map((inner) => `${entry}/${inner}`) : [entry],
  );
  const programs = packages.filter((entry) => name.test(entry)).map((entry) => join(modules, entry, path));
  const program = programs.sort().find((file) => existsSync(file));
  if (program === undefined) throw new Error(`no program for ${process.platform}-${process.arch} was installed`);
  return [program];
}
