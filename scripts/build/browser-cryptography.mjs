import { resolve } from 'node:path';

/** Swaps the two files that use Node's cryptography for portable ones. */
export const browserCryptography = {
  name: 'browser-cryptography',
  setup: (bundler) =>
    bundler.onResolve({ filter: /\/(?:sha256|ed25519)\.ts$/ }, ({ resolveDir, path }) => ({
      path: resolve(resolveDir, path.replace(/\.ts$/, '.browser.ts')),
    })),
};
