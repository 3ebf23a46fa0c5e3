import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tilePath, writeTiles } from '../../src/cli/proofs/tiles.ts';
import type { Reader } from '../../src/db/database.ts';
import { leafHash, parseCheckpoint, parseVerifierKey, verifyCheckpoint } from '../../src/integrity/index.ts';
import { foldLeaves } from '../../src/integrity/merkle.ts';
import { tamper } from '../support/ledger.ts';
import { call } from '../support/memory-server.ts';
import { promiseTest } from '../support/promise-test.ts';
import { SigningProject } from './support.ts';

describe('the path of a tile', () => {
  it.each([
    [[0, 0], 'tile/0/000'],
    [[1, 1_234_067], 'tile/1/x001/x234/067'],
    [['entries', 5, 112], 'tile/entries/005.p/112'],
    [[0, 1000], 'tile/0/x001/000'],
  ] as const)('is as the specification says: %j', ([level, index, width], path) => {
    expect(tilePath(level, index, width)).toBe(path);
  });
});

describe('the tiles of a log', () => {
  promiseTest('publish/tiles', 'an entry that is too long for the format costs one file, and no hash', async () => {
    const project = new SigningProject();
    const folder = project.mkdir('public');
    const texts = Array.from({ length: 300 }, (_, index) => (index === 7 ? 'x'.repeat(65_536) : `entry ${index}`));
    texts[299] = 'x'.repeat(65_535);
    const rootOf = (count: number) => foldLeaves(texts.slice(0, count).map(leafHash));
    const query = async (sql: string, [begin, end]: readonly number[]) =>
      sql.includes('ledger_nodes') ? [{ hash: rootOf(256) }] : texts.slice(begin, end).map((entry) => ({ entry }));
    const progress = () => undefined;
    const reader = { query } as unknown as Reader;
    const tiles = await writeTiles(reader, folder, { from: 0, to: 255, root: rootOf(255), progress });
    expect(tiles).toEqual({ files: 1, tooLong: [7] });
    expect(readFileSync(join(folder, tilePath(0, 0, 255)))).toHaveLength(255 * 32);
    const rest = await writeTiles(reader, folder, { from: 256, to: 300, root: rootOf(300), progress });
    expect(rest).toMatchObject({ tooLong: [] });
    expect(Object.keys(snapshot(folder)).sort()).toEqual([
      'tile/0/000.p/255',
      'tile/0/001.p/44',
      'tile/entries/001.p/44',
    ]);
  });
});

describe('a published log', () => {
  promiseTest(
    'publish/tiles',
    'has the root of its checkpoint, in tiles and in entries, and grows by new files only',
    async () => {
      const project = new SigningProject();
      const folder = project.path('public');
      await addTasks(project, 90);
      expect(await project.colibri('publish', folder)).toMatchObject({ status: 0 });
      const key = (await project.colibri('key')).stdout.trim();
      expectWhole(folder, key);
      const before = snapshot(folder);
      expect(await project.colibri('publish', folder)).toMatchObject({ status: 0 });
      expect(snapshot(folder)).toEqual(before);
      // An entry below a full tile was rewritten, and the stored nodes above it were not.
      const saved = project.save();
      await tamper(project.ledger, `UPDATE ledger_entries SET entry = replace(entry, 'alice', 'eve') WHERE idx = 7`);
      const refused = await project.colibri('publish', project.path('forged'));
      expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining('run colibri verify') as string });
      expect(existsSync(project.path('forged'))).toBe(false);
      project.rollBackTo(saved);
      await addTasks(project, 200);
      expect(await project.colibri('publish', folder, '--json')).toMatchObject({ status: 0 });
      expectWhole(folder, key);
      for (const [path, { bytes, mtime }] of Object.entries(before))
        if (!path.includes('.p/') && path !== 'checkpoint') expect(snapshot(folder)[path]).toEqual({ bytes, mtime });
      const atOnce = project.path('at-once');
      await project.colibri('publish', atOnce);
      // A partial tile of an earlier checkpoint stays until the tile is full.
      const grown = snapshot(folder);
      for (const [path, { bytes }] of Object.entries(snapshot(atOnce))) expect(grown[path]?.bytes, path).toBe(bytes);
    },
  );

  promiseTest('publish/tiles', 'not below a file, nor where no folder can be created', async () => {
    const project = new SigningProject();
    await project.colibri('add', 'one');
    for (const folder of [project.ledger, join(project.ledger, 'x')])
      expect(await project.colibri('publish', folder), folder).toMatchObject({
        status: 3,
        stderr: `colibri publish: ${project.ledger} is not a folder; choose another one\n`,
      });
    if (existsSync('/proc/self')) expect(await project.colibri('publish', '/proc/x')).toMatchObject({ status: 2 });
  });

  promiseTest('publish/tiles', 'holds no word of what agents wrote', async () => {
    const project = new SigningProject();
    await project.colibri('add', 'the secret title');
    await project.colibri('publish', project.path('public'));
    for (const { bytes } of Object.values(snapshot(project.path('public')))) expect(bytes).not.toContain('secret');
  });

  promiseTest('publish/fork', 'a folder of another log, of another history, or of no log is left alone', async () => {
    const project = new SigningProject();
    const folder = project.path('public');
    await addTasks(project, 3);
    await project.colibri('publish', folder);
    const other = new SigningProject();
    await addTasks(other, 9);
    cpSync(folder, other.path('public'), { recursive: true });
    const before = snapshot(other.path('public'));
    expect(await other.colibri('publish', other.path('public'))).toMatchObject({ status: 1 });
    expect(snapshot(other.path('public'))).toEqual(before);
    const tile = join(
      folder,
      tilePath('entries', 0, parseCheckpoint(readFileSync(join(folder, 'checkpoint'), 'utf8')).size),
    );
    writeFileSync(join(folder, 'checkpoint'), 'no checkpoint');
    expect(await project.colibri('publish', folder)).toMatchObject({ status: 3 });
    const forged = project.path('forged');
    await project.colibri('publish', forged);
    writeFileSync(
      join(forged, 'checkpoint'),
      readFileSync(join(forged, 'checkpoint'), 'utf8').replace(/\n[^\n]{44}\n/, `\n${'A'.repeat(43)}=\n`),
    );
    expect(await project.colibri('publish', forged)).toMatchObject({ status: 1 });
    expect(statSync(tile).size).toBeGreaterThan(0);
  });
});

async function addTasks(project: SigningProject, count: number): Promise<void> {
  await project.withAgent(async (agent) => {
    for (let task = 0; task < count; task += 1) await call(agent, 'task_create', { title: `${task}` });
  });
}

/** Reads the files as an auditor does who knows only the specification. */
function expectWhole(folder: string, key: string): void {
  const { size, root } = verifyCheckpoint(readFileSync(join(folder, 'checkpoint'), 'utf8'), {
    log: [parseVerifierKey(key)],
  });
  const leaves: string[] = [];
  for (let tile = 0; tile * 256 < size; tile += 1) {
    const width = Math.min(256, size - tile * 256);
    const hashes =
      readFileSync(join(folder, tilePath(0, tile, width)))
        .toString('hex')
        .match(/.{64}/g) ?? [];
    expect(entriesIn(readFileSync(join(folder, tilePath('entries', tile, width)))).map(leafHash)).toEqual(hashes);
    leaves.push(...hashes);
  }
  expect(foldLeaves(leaves)).toBe(root);
  const full = Math.floor(size / 256);
  const above =
    full === 0
      ? []
      : (readFileSync(join(folder, tilePath(1, 0, full)))
          .toString('hex')
          .match(/.{64}/g) ?? []);
  expect(above).toEqual(
    Array.from({ length: full }, (_, tile) => foldLeaves(leaves.slice(tile * 256, (tile + 1) * 256))),
  );
}

function entriesIn(bytes: Buffer): string[] {
  const entries: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 2 + bytes.readUInt16BE(at);
    entries.push(bytes.subarray(at + 2, end).toString('utf8'));
    at = end;
  }
  return entries;
}

function snapshot(folder: string): Record<string, { bytes: string; mtime: number }> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
  return Object.fromEntries(
    files
      .sort()
      .map((name) => [
        name,
        { bytes: readFileSync(join(folder, name), 'latin1'), mtime: statSync(join(folder, name)).mtimeMs },
      ]),
  );
}
