import * as crypto from 'node:crypto';

/**
 * Loads node:crypto with its first use: that takes several milliseconds, and a handshake needs none of it. The names
 * are those of the Node that builds, because listing them at run time would load it.
 */
export const lazyCrypto = {
  name: 'lazy-crypto',
  setup(bundler) {
    const namespace = 'lazy-crypto';
    bundler.onResolve({ filter: /^(?:node:)?crypto$/ }, ({ importer }) =>
      importer === namespace ? { path: 'node:crypto', external: true } : { path: namespace, namespace },
    );
    bundler.onLoad({ filter: /./, namespace }, () => ({
      contents: `let loaded;
        for (const name of ${JSON.stringify(Object.keys(crypto).filter((name) => name !== 'default'))})
          Object.defineProperty(exports, name, {
            enumerable: true,
            get: () => (loaded ??= require('node:crypto'))[name],
          });`,
      loader: 'js',
    }));
  },
};
