import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { Script } from 'node:vm';
import { findCodeCacheFolder } from './code-cache-folder.ts';

/**
 * Loads a bundled CommonJS file. If the build wrote a V8 code cache for this version of Node, uses it, which saves a
 * fifth of the startup. Otherwise relies on the compile cache of newer Node versions.
 */
export function loadProgram(path: string): unknown {
  const cachePath = codeCachePath(path);
  const require = module.createRequire(path);
  if (existsSync(cachePath)) return evaluate(wrap(path, readFileSync(cachePath)), path, require);
  enableCompileCache(path);
  return require(path);
}

/** Node 22 and later keep compiled code. The temporary folder of a Windows user belongs to that user alone. */
function enableCompileCache(path: string): void {
  const { enableCompileCache: enable } = module as { enableCompileCache?: (folder?: string) => void };
  if (process.platform === 'win32') return enable?.();
  const folder = enable === undefined ? undefined : findCodeCacheFolder(path);
  if (folder !== undefined) enable?.(folder);
}

/** For the build: loads the file and returns a function that serializes the code compiled so far. */
export function loadForCache(path: string): { exports: unknown; cachePath: string; createCache: () => Buffer } {
  const script = wrap(path, undefined);
  return {
    exports: evaluate(script, path, module.createRequire(path)),
    cachePath: codeCachePath(path),
    createCache: () => script.createCachedData(),
  };
}

/** V8 rejects the cache of another version, but only after reading it; the version in the name avoids that. */
export function codeCachePath(path: string): string {
  return `${path}.${process.version}-${process.arch}.cache`;
}

export function wrap(path: string, cachedData: Buffer | undefined): Script {
  // The build escapes everything beyond ASCII, and Node decodes Latin-1 several times as fast as UTF-8.
  const source = `(function (exports, require, module, __filename) {${readFileSync(path, 'latin1')}\n})`;
  return new Script(source, { filename: path, ...(cachedData === undefined ? {} : { cachedData }) });
}

function evaluate(script: Script, path: string, require: NodeJS.Require): unknown {
  const loaded: { exports: unknown } = { exports: {} };
  script.runInThisContext()(loaded.exports, require, loaded, path);
  return loaded.exports;
}
