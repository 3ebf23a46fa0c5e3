import { readFileSync } from 'node:fs';

/** From the package's own file, one folder up from the sources as from the built program. */
export function readVersion(): string {
  try {
    const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
    return (JSON.parse(text) as { version: string }).version;
  } catch (error) {
    throw new Error(`Failed to read package.json version: ${String(error)}`, { cause: error });
  }
}
