// Bundles the program and the library into dist/, for `npm run build`, `npm start` and `npm test`.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { browserCryptography } from './browser-cryptography.mjs';
import { lazyCrypto } from './lazy-crypto.mjs';
import { lazyFunctions } from './lazy-functions.mjs';
import { leanSdk } from './lean-sdk.mjs';
import { leanYaml } from './lean-yaml.mjs';
import { buildPage } from './page.mjs';
import { createSbom } from './sbom.mjs';
import {
  packedCommonWords,
  packedPostgresSchema,
  withoutPostgresMigrations,
  withoutSqlComments,
  withoutSqlIndents,
} from './small-texts.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

// Their Node entries hide their requires from the bundler, or are larger.
const parsersAsModules = {
  alias: {
    yaml: './node_modules/yaml/browser/index.js',
    'jsonc-parser': './node_modules/jsonc-parser/lib/esm/main.js',
  },
};

// CommonJS has no import.meta.
const ownUrl = {
  define: { 'import.meta.url': 'programUrl' },
  banner: { js: 'const programUrl = require("node:url").pathToFileURL(__filename).href;' },
};

// The global `performance` loads a module with its first use, which takes a hook a millisecond.
const hookClock = {
  define: { ...ownUrl.define, 'performance.now': 'monotonicMs' },
  banner: {
    js: `${ownUrl.banner.js}\nconst monotonicMs = () => { const [s, ns] = process.hrtime(); return s * 1e3 + ns / 1e6; };`,
  },
};

/** A hook must start quickly; the file says why this helps. */
const hookSha256 = {
  name: 'hook-sha256',
  setup: (bundler) =>
    bundler.onResolve({ filter: /\/sha256\.ts$/ }, () => ({ path: `${root}src/recorder/hook-sha256.ts` })),
};

/** A server has the time to create the schema that it compares a ledger with, and the package has a limit of size. */
const withoutStoredSchema = {
  name: 'without-stored-schema',
  setup: (bundler) =>
    bundler.onLoad({ filter: /\/db\/sqlite\/stored-schema\.ts$/ }, () => ({
      contents: "export const SQLITE_SCHEMA = '';",
    })),
};

/** The page has it, and Node. Both files of the library with it would be too large for the package. */
const withoutFastBundles = {
  name: 'without-fast-bundles',
  setup: (bundler) =>
    bundler.onLoad({ filter: /\/bundle\/fast\/prove-bundle\.ts$/ }, () => ({
      contents: 'export const proveBundle = () => undefined;',
    })),
};

const common = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  outdir: 'dist',
  logLevel: 'warning',
  loader: { '.sql': 'text' },
  metafile: true,
};

/** Scripts, not modules: only a script can have a code cache (see load-program.ts). */
const commonJs = { ...common, format: 'cjs', outExtension: { '.js': '.cjs' } };

const BUNDLES = [
  { ...common, entryPoints: { 'load-program': 'src/cli/load-program.ts' } },
  { ...commonJs, entryPoints: { start: 'src/cli/start.ts' }, minify: true },
  {
    ...commonJs,
    entryPoints: { program: 'src/cli/main.ts' },
    minify: true,
    ...parsersAsModules,
    // The driver loads it only for an addon that is not there.
    external: ['./native'],
    plugins: [
      ...leanSdk,
      ...leanYaml,
      withoutStoredSchema,
      withoutSqlComments,
      packedPostgresSchema,
      packedCommonWords,
      lazyCrypto,
      withoutSqlIndents,
    ],
    ...ownUrl,
  },
  // What a hook loads when an agent stops and no server runs: the ledger in a file, without tools and protocol.
  {
    ...commonJs,
    entryPoints: { ingest: 'src/runtime/ingest-after-hook.ts' },
    minify: true,
    // Not loaded: no URL of a database gets here. Verifying a ledger that was accepted takes longer than a hook may;
    // its events stay in the spool for the next server.
    external: ['../db/postgres/database.ts', '../postgres/schema-check.ts', '../verification/verify-ledger.ts'],
    alias: { zod: './scripts/build/no-inputs.cjs' },
    plugins: [hookSha256, withoutPostgresMigrations, withoutSqlComments, lazyFunctions('crypto', 'fs/promises')],
    ...hookClock,
  },
  {
    ...commonJs,
    entryPoints: { hook: 'src/recorder/hook.ts' },
    minify: true,
    plugins: [hookSha256, lazyFunctions('child_process', 'crypto', 'os')],
  },
  {
    ...common,
    entryPoints: { integrity: 'src/integrity/index.ts', 'hash-worker': 'src/verification/fast/hash-worker.ts' },
    minify: true,
  },
  {
    ...common,
    entryPoints: { 'integrity.browser': 'src/integrity/index.ts' },
    platform: 'browser',
    target: 'es2022',
    minify: true,
    plugins: [browserCryptography, withoutFastBundles],
  },
];

export async function buildAll() {
  rmSync(`${root}dist`, { recursive: true, force: true });
  const bundles = await Promise.all(BUNDLES.map((options) => build(options)));
  for (const name of ['program', 'ingest', 'hook']) escapeNonAscii(`${root}dist/${name}.cjs`);
  await buildPage(root);
  const sbom = createSbom(
    bundles.map(({ metafile }) => metafile),
    root,
  );
  writeFileSync(`${root}dist/sbom.cdx.json`, `${JSON.stringify(sbom)}\n`);
  writeEntry();
  writeLibrary();
  // Not bundled: `colibri init` copies it into projects, where people read it.
  copyFileSync(`${root}src/recorder/plugins/opencode.js`, `${root}dist/opencode-plugin.js`);
  writeCodeCaches();
}

/**
 * load-program.ts decodes these files as Latin-1, which takes a fraction of the time of UTF-8. The bundler escapes
 * everything but what is in a regular expression, where the same escapes are valid unless a backslash precedes them.
 */
function escapeNonAscii(path) {
  const escaped = readFileSync(path, 'utf8').replaceAll(/\\?[^\0-\x7f]/gu, (character) => {
    if (character.length > 1) throw new Error(`${path}: write ${character} as an escape, in the source`);
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  writeFileSync(path, escaped);
}

/** The file that users start. Not bundled: esbuild would add code that an old Node cannot parse. */
function writeEntry() {
  const check = readFileSync(`${root}src/cli/require-node.cjs`, 'utf8');
  writeFileSync(`${root}dist/colibri.cjs`, `#!/usr/bin/env node\n${check}require('./start.cjs');\n`);
  chmodSync(`${root}dist/colibri.cjs`, 0o755);
  // Configurations of earlier versions name this file.
  writeFileSync(`${root}dist/colibri.js`, "import './colibri.cjs';\n");
}

/** The library is in the bundle of the program; a bundle of its own would nearly double the size of the package. */
function writeLibrary() {
  const { run: _run, startIfMain: _start, ...library } = createRequire(import.meta.url)(`${root}dist/program.cjs`);
  const lines = [
    "import { startIfMain } from './program.cjs';",
    `export { ${Object.keys(library).sort().join(', ')} } from './program.cjs';`,
    'startIfMain(import.meta.url);',
  ];
  writeFileSync(`${root}dist/server.js`, `${lines.join('\n')}\n`);
}

/** Runs one handshake and two events, and stores the code that V8 compiled for them beside the program. */
function writeCodeCaches() {
  const folder = mkdtempSync(join(tmpdir(), 'colibri-build-'));
  // Neither the ledger nor the configuration of the user who builds.
  const { COLIBRI_DB_PATH: _path, COLIBRI_DATABASE_URL: _url, ...inherited } = process.env;
  const env = { ...inherited, HOME: folder, XDG_CONFIG_HOME: folder, COLIBRI_LOG_LEVEL: 'error' };
  const run = (args, input, variables = {}) => {
    const options = { cwd: folder, input, env: { ...env, ...variables }, encoding: 'utf8' };
    const { status, stderr } = spawnSync(process.execPath, args, options);
    return status === 0 ? undefined : stderr;
  };
  const writeCache = (name, message, variables) => {
    const failure = run([`${root}scripts/build/write-code-cache.mjs`, name], `${JSON.stringify(message)}\n`, variables);
    if (failure !== undefined) throw new Error(`the built program does not start: ${failure}`);
  };
  try {
    writeCache('program', HANDSHAKE, { COLIBRI_MODE: 'MINIMAL' });
    // A package is built without a module for SQLite, and has no code caches.
    if (run([`${root}dist/colibri.cjs`, 'serve'], '') !== undefined) return;
    const event = { session_id: 'build', cwd: folder, transcript_path: join(folder, 'none.jsonl') };
    const call = {
      tool_name: 'Bash',
      tool_use_id: 'one',
      tool_input: { command: 'ls' },
      tool_response: { stdout: '' },
    };
    writeCache('hook', { ...event, ...call, hook_event_name: 'PostToolUse' });
    writeCache('ingest', { ...event, hook_event_name: 'SessionEnd', reason: 'other' });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const HANDSHAKE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'build', version: '0' } },
};
