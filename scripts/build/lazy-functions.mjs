import { createRequire } from 'node:module';

const NAMESPACE = 'lazy-functions';
const require = createRequire(import.meta.url);

/**
 * Loads modules of Node with the first call of one of their functions: node:crypto takes a hook several milliseconds,
 * and most hooks need none of it. Unlike lazyCrypto, the bundle has only the functions that it calls; importing
 * anything else fails the build.
 */
export function lazyFunctions(...modules) {
  return {
    name: NAMESPACE,
    setup(bundler) {
      bundler.onResolve({ filter: new RegExp(`^(?:node:)?(?:${modules.join('|')})$`) }, ({ path, namespace }) => {
        const name = path.replace(/^node:/, '');
        return namespace === NAMESPACE
          ? { path: `node:${name}`, external: true }
          : { path: name, namespace: NAMESPACE };
      });
      bundler.onLoad({ filter: /./, namespace: NAMESPACE }, ({ path }) => ({
        contents: functionsOf(path)
          .map((name) => `export function ${name}(...args) { return require('node:${path}').${name}(...args); }`)
          .join('\n'),
        loader: 'js',
      }));
    },
  };
}

/** Not classes, which are called with `new`. */
function functionsOf(module) {
  const isFunction = ([name, value]) => typeof value === 'function' && /^[a-z]/.test(name);
  return Object.entries(require(`node:${module}`))
    .filter(isFunction)
    .map(([name]) => name);
}
