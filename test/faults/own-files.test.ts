import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { RememberedCheckpoints } from '../../src/checkpoints/remembered.ts';
import { createKeyFile, openSigningKey } from '../../src/checkpoints/signing-key.ts';
import { type FileChange, writeAll } from '../../src/cli/init/disk.ts';
import { readConfig } from '../../src/config.ts';
import { listSpool, readSpoolFile, removeAbandoned, writeToSpool } from '../../src/recorder/spool.ts';
import { tempFolder } from '../support/folders.ts';
import { promiseTest } from '../support/promise-test.ts';
import { sizeOf } from '../support/properties.ts';
import { FAILURES, type Failure, withFailure } from './disk/failing-fs.ts';

/** Work on files of a folder, and what must hold afterwards, whether it threw or not. */
interface Work {
  readonly prepare?: (folder: string) => void;
  readonly run: (folder: string) => void;
  readonly check: (folder: string, state: { readonly isDone: boolean; readonly failure: Failure }) => void;
}

const EVENT = JSON.stringify({ event: 'x'.repeat(500) });
const AT = new Date('2026-04-08T22:00:00.000Z');

const spool: Work = {
  prepare: (folder) => mkdirSync(join(folder, '.colibri'), { mode: 0o700 }),
  run: (folder) => writeToSpool(spoolOf(folder), EVENT, { at: AT, isDurable: true }),
  check: (folder, { isDone, failure }) => {
    const texts = existsSync(spoolOf(folder))
      ? listSpool(spoolOf(folder)).map((name) => readSpoolFile(spoolOf(folder), name))
      : [];
    expect(texts).toEqual(isDone ? [EVENT] : texts.length === 0 ? [] : [EVENT]);
    if (!existsSync(spoolOf(folder))) return;
    removeAbandoned(spoolOf(folder), new Date());
    if (failure !== 'EIO') expect(readdirSync(spoolOf(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  },
};
const spoolOf = (folder: string) => join(folder, '.colibri', 'spool');

const key: Work = {
  run: (folder) => void createKeyFile(keyOf(folder)),
  check: (folder, { isDone }) => {
    if (isDone) expect(existsSync(keyOf(folder))).toBe(true);
    if (existsSync(keyOf(folder))) expect(statSync(keyOf(folder)).mode & 0o777).toBe(0o600);
    const { config } = readConfigOf(folder);
    expect(openSigningKey(config)?.path).toBe(keyOf(folder));
  },
};
const keyOf = (folder: string) => join(folder, 'colibri', 'signing-key.pem');
const readConfigOf = (folder: string) => ({
  config: readConfig({ COLIBRI_KEY_PATH: keyOf(folder), COLIBRI_DB_PATH: join(folder, 'ledger', 'colibri.db') }),
});

const SIGNATURE = `\u2014 colibri.test/ledger ${Buffer.alloc(68, 1).toString('base64')}`;
const [OLD, NEW] = ['a', 'b'].map((letter, index) =>
  ['colibri.test/ledger', `${7 + index}`, Buffer.alloc(32, letter).toString('base64'), '', SIGNATURE, ''].join('\n'),
) as [string, string];
const rememberedIn = (folder: string) => new RememberedCheckpoints('11111111-1111-4111-8111-111111111111', folder);
const checkpoint: Work = {
  prepare: (folder) => void rememberedIn(folder).remember(OLD),
  run: (folder) => void rememberedIn(folder).remember(NEW),
  check: (folder, { isDone }) => {
    const size = rememberedIn(folder).newest()?.size;
    expect(isDone ? [8] : [7, 8]).toContain(size);
    rememberedIn(folder).remember(NEW);
    expect(rememberedIn(folder).newest()?.size).toBe(8);
  },
};

const LARGE = `${'{"mcpServers":{}}'.repeat(500)}\n`;
const CHANGES: readonly FileChange[] = [
  { path: '.mcp.json', before: 'old one\n', after: LARGE },
  { path: '.cursor/mcp.json', before: undefined, after: LARGE },
  { path: '.colibri/init.json', before: undefined, after: '{}\n' },
  { path: 'AGENTS.md', before: 'old two\n', after: `old two\n${LARGE}` },
];
const init: Work = {
  prepare: (folder) => {
    for (const { path, before } of CHANGES)
      if (before !== undefined) writeAll(folder, [{ path, before: undefined, after: before }]);
  },
  run: (folder) => writeAll(folder, CHANGES),
  check: (folder, { isDone, failure }) => {
    const found = CHANGES.map(({ path }) =>
      existsSync(join(folder, path)) ? readFileSync(join(folder, path), 'utf8') : undefined,
    );
    const [before, after] = [CHANGES.map((change) => change.before), CHANGES.map((change) => change.after)];
    if (isDone) expect(found).toEqual(after);
    else if (failure === 'killed')
      for (const [index, text] of found.entries()) expect([before[index], after[index]]).toContain(text);
    else expect(found).toEqual(before);
  },
};

const WORKS: Readonly<Record<string, Work>> = {
  'an event that a hook spools': spool,
  'a signing key': key,
  'a remembered checkpoint': checkpoint,
  'the files that init edits': init,
};

describe('the files beside the ledger', () => {
  for (const [name, work] of Object.entries(WORKS))
    for (const [turn, failure] of FAILURES.entries())
      promiseTest('fault/own-files', `${name}, ${failure} at each call of the file system`, () => {
        const prepared = tempFolder();
        work.prepare?.(prepared);
        // Each failure meets another third of the calls, and all of them in `npm run torture`.
        const step = failure === 'short write' ? 1 : sizeOf({ test: 3, torture: 1 });
        let nth = 1 + (turn % step);
        for (; ; nth += step) {
          const folder = join(tempFolder(), 'copy');
          cpSync(prepared, folder, { recursive: true, mode: 0 });
          const attempt = withFailure(nth, failure, () => work.run(folder));
          if (!attempt.hasFailed) break;
          try {
            work.check(folder, { isDone: attempt.error === undefined, failure });
          } catch (error) {
            throw new Error(`call ${nth} (${String(attempt.error)}): ${String(error)}`, { cause: error });
          }
        }
        expect(nth).toBeGreaterThan(5);
      });
});
