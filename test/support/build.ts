import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { buildAll } from '../../scripts/build.mjs';

/** Tests of the program run what users run: the bundle. */
export async function setup(): Promise<void> {
  await buildAll();
  await build({
    absWorkingDir: fileURLToPath(new URL('../..', import.meta.url)),
    entryPoints: ['test/support/fixture-*.ts'],
    outdir: 'dist/test',
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    loader: { '.sql': 'text' },
    logLevel: 'warning',
  });
}
