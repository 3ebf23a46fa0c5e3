import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Bundles TypeScript, because not every supported Node can run it directly. */
export function bundle(options) {
  return build({
    absWorkingDir: fileURLToPath(new URL('../..', import.meta.url)),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    loader: { '.sql': 'text' },
    logLevel: 'warning',
    ...options,
  });
}
