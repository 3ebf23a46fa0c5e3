import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundle } from '../build/bundle.mjs';

/** Bundles exports of the sources before importing them, because not every supported Node can run TypeScript. */
export async function loadSources(name, contents) {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const outfile = `${root}dist/generate/${name}.mjs`;
  await bundle({ stdin: { contents, resolveDir: root, loader: 'ts' }, outfile });
  return import(pathToFileURL(outfile).href);
}
