import { buildAll } from '../../scripts/build.mjs';
import { bundle } from '../../scripts/bundle.mjs';

/** Tests of the program run what users run: the bundle. */
export async function setup(): Promise<void> {
  await buildAll();
  await bundle({
    entryPoints: ['test/support/fixture-*.ts'],
    outdir: 'dist/test',
  });
}
