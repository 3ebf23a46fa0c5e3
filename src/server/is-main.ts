import { readFileSync, realpathSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseJson } from '../integrity/parse-json.ts';

/** True if Node was started with the module, which must lie in the `dist` folder of this package. */
export function isMain(moduleUrl: string): boolean {
  const script = process.argv[1];
  try {
    if (script === undefined || pathToFileURL(realpathSync(script)).href !== moduleUrl) return false;
    // An embedder's bundle contains this code too, and is itself the main module.
    const text = readFileSync(new URL('../package.json', moduleUrl), 'utf8');
    return (parseJson(text) as { name?: unknown }).name === 'colibri-mcp';
  } catch {
    return false;
  }
}
