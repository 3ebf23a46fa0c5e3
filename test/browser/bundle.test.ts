import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';

const BUNDLE = fileURLToPath(new URL('../../dist/integrity.browser.js', import.meta.url));
const SOURCE = fileURLToPath(new URL('../../src/integrity/index.ts', import.meta.url));

async function bundleForBrowser(entryPoint: string): Promise<Metafile> {
  const options = { bundle: true, write: false, metafile: true, platform: 'browser', logLevel: 'silent' } as const;
  return (await build({ ...options, entryPoints: [entryPoint], format: 'esm' })).metafile;
}

describe('the browser bundle', () => {
  promiseTest('integrity/browser', 'the bundle imports nothing, and no module of Node', async () => {
    const { inputs, outputs } = await bundleForBrowser(BUNDLE);
    expect(Object.keys(inputs)).toHaveLength(1);
    expect(Object.values(outputs).flatMap((output) => output.imports)).toEqual([]);
    const text = readFileSync(BUNDLE, 'utf8');
    for (const word of ['node:', 'require(', 'import(', 'import"', 'eval(', 'new Function']) {
      expect(text).not.toContain(word);
    }
  });

  promiseTest('integrity/browser', 'only the files of hashes and signatures import a module of Node', async () => {
    const failure: unknown = await bundleForBrowser(SOURCE).catch((error: unknown) => error);
    const { errors } = failure as { errors: { text: string; location: { file: string } }[] };
    const files = errors.map(({ location }) => location.file).sort();
    expect(files).toEqual([
      expect.stringMatching(/integrity\/notes\/ed25519\.ts$/),
      expect.stringMatching(/integrity\/sha256\.ts$/),
    ]);
  });

  it('exports what the Node bundle exports', async () => {
    const exported = async (name: string) => {
      const url = new URL(`../../dist/${name}`, import.meta.url).href;
      return Object.keys((await import(url)) as object).toSorted();
    };
    expect(await exported('integrity.browser.js')).toEqual(await exported('integrity.js'));
  });
});
