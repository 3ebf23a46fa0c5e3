// Bundles the program and the library into dist/. Run through `npm run build`; `npm start` and `npm test` call it.
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

// The SDK brings a JSON-Schema validator of 150 KB for requests that this server never makes.
const withoutValidator = {
  name: 'without-validator',
  setup(bundler) {
    bundler.onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, () => ({
      path: fileURLToPath(new URL('sdk-shims.mjs', import.meta.url)),
    }));
  },
};

const common = { absWorkingDir: root, bundle: true, format: 'esm', logLevel: 'warning', loader: { '.sql': 'text' } };

export async function buildAll() {
  rmSync(`${root}dist`, { recursive: true, force: true });
  await Promise.all([
    build({
      ...common,
      entryPoints: { colibri: 'src/cli/colibri.ts', server: 'src/server.ts' },
      outdir: 'dist',
      platform: 'node',
      target: 'node20',
      splitting: true,
      minify: true,
      keepNames: false,
      chunkNames: '[name]-[hash]',
      external: ['better-sqlite3'],
      // Its Node entry is CommonJS, which an ES bundle cannot require.
      alias: { yaml: './node_modules/yaml/browser/index.js' },
      plugins: [withoutValidator],
    }),
    build({
      ...common,
      entryPoints: { integrity: 'src/integrity/index.ts' },
      outdir: 'dist',
      platform: 'node',
      target: 'node20',
    }),
    build({
      ...common,
      entryPoints: { 'integrity.browser': 'src/integrity/index.ts' },
      outdir: 'dist',
      platform: 'browser',
      target: 'es2022',
      minify: true,
      plugins: [
        {
          name: 'browser-hash',
          setup: (bundler) =>
            bundler.onResolve({ filter: /\/sha256\.ts$/ }, ({ resolveDir }) => ({
              path: `${resolveDir}/sha256.browser.ts`,
            })),
        },
      ],
    }),
  ]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildAll();
