// Writes test/vectors/ from the naive reference beside it. Run it after changing the list of defects.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: ['test/vectors/vectors.ts'],
  bundle: true,
  format: 'esm',
  platform: 'node',
  write: false,
});
const code = Buffer.from(outputFiles[0].contents).toString('base64');
const { createVectorFiles } = await import(`data:text/javascript;base64,${code}`);
for (const [name, text] of Object.entries(createVectorFiles())) writeFileSync(`${root}test/vectors/${name}`, text);
