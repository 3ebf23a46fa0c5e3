import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { openCurrent } from '../clients/official-clients.ts';
import { createCall, playSession } from '../clients/whole-session.ts';
import { promiseTest } from '../support/promise-test.ts';
import { copyRepository, lendSqlite, MANIFEST, openFolder, run } from './packed.ts';
import { bundleManifest } from './published-schemas.ts';

describe('the bundle', () => {
  let folder: string;
  let files: Record<string, Uint8Array>;

  beforeAll(() => {
    folder = openFolder();
    files = unzipSync(makeBundle(copyRepository(folder)));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const manifest = () => JSON.parse(Buffer.from(files['manifest.json'] ?? []).toString('utf8')) as Manifest;

  promiseTest('package/bundle', 'the manifest matches its schema and has this version', () => {
    expect(bundleManifest.safeParse(manifest()).error?.issues).toBeUndefined();
    expect(manifest()).toMatchObject({ name: MANIFEST.name, version: MANIFEST.version });
    expect(files).toHaveProperty([manifest().server.entry_point]);
  });

  const wrong: [string, (whole: Manifest) => unknown][] = [
    ['another version of the format', (whole) => ({ ...whole, manifest_version: '9' })],
    ['no author', ({ author: _author, ...rest }) => rest],
    ['an author who is a plain name', (whole) => ({ ...whole, author: 'someone' })],
    ['an entry point outside', (whole) => ({ ...whole, server: { ...whole.server, entry_point: '../colibri.js' } })],
    ['no way to start', ({ server: { mcp_config: _config, ...server }, ...rest }) => ({ ...rest, server })],
    ['a field that the format does not know', (whole) => ({ ...whole, dxt: true })],
  ];
  for (const [what, damage] of wrong)
    promiseTest('package/bundle', `the check refuses ${what}`, () => {
      expect(bundleManifest.safeParse(damage(manifest())).success).toBe(false);
    });

  promiseTest('package/bundle', 'the bundle contains the program, documents and skills, and no native module', () => {
    const allowed =
      /^(?:manifest\.json|package\.json|LICENSE|README\.md|dist\/(?:colibri|start|program)\.cjs|\.agents\/skills\/.+)$/;
    expect(Object.keys(files).filter((path) => !allowed.test(path))).toEqual([]);
  });

  promiseTest('package/bundle', 'the build of the bundle is reproducible', () => {
    const repository = join(folder, 'repository');
    expect(makeBundle(repository)).toEqual(makeBundle(repository));
  });

  promiseTest(
    'package/bundle',
    'unpacked and started as the manifest says, it lists its tools and plays a session',
    async () => {
      const place = join(folder, 'unpacked');
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(place, path)), { recursive: true });
        writeFileSync(join(place, path), content);
      }
      // The bundle is for a Node with SQLite of its own; an older one is lent the module.
      lendSqlite(place);
      const ledger = join(folder, 'ledger', 'colibri.db');
      const fill = (text: string) =>
        text.replace(/\$\{__dirname\}/, place).replace(/\$\{user_config\.ledger\}/, ledger);
      const { args, env } = manifest().server.mcp_config;
      const client = await openCurrent({
        command: process.execPath,
        args: args.map(fill),
        cwd: folder,
        env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)])),
      });
      const listed = (await client.listTools()).map(({ name, description }) => ({ name, description }));
      expect(manifest().tools).toEqual(listed);
      await playSession(await createCall(client));
      await client.close();
      const program = join(place, manifest().server.entry_point);
      const environment = `COLIBRI_DB_PATH=${ledger}`;
      const { stdout } = run(folder, 'env', environment, process.execPath, program, 'verify', '--json');
      expect(JSON.parse(stdout)).toMatchObject({ verdict: 'whole' });
    },
  );
});

type Manifest = ReturnType<typeof bundleManifest.parse>;

function makeBundle(repository: string): Buffer {
  const { status, stderr } = run(repository, process.execPath, 'scripts/build/mcpb.mjs');
  if (status !== 0) throw new Error(stderr);
  return readFileSync(join(repository, 'colibri.mcpb'));
}
