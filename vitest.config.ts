import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** What must be the same on every engine: run on each of them. */
const ON_EVERY_ENGINE = [
  'test/agents/*.test.ts',
  'test/brief/{library,yours}.test.ts',
  'test/git/{claims,commit-tasks}.test.ts',
  'test/evidence/*.test.ts',
  'test/people-commands/{commands,input,review}.test.ts',
  'test/notes/export.test.ts',
  'test/recorder/{ingest,reports,settle,signs,subagents*,unanswered}.test.ts',
  'test/tasks/*.test.ts',
  'test/trail/{bad-input,hash,migration,processes,proofs,sessions,strings,tools}.test.ts',
  'test/verification/{chain-report,grammar,grammar-honest,natural-order,redactions,tamper-entries,tamper-tables}.test.ts',
];
/** Of these, what uses few statements of its own: on PostgreSQL only in `npm run torture`. */
const ON_POSTGRES_IN_TORTURE = [
  'test/agents/{agents-command,log-command,names,timeline,wait}.test.ts',
  'test/brief/library.test.ts',
  'test/people-commands/*.test.ts',
  'test/notes/export.test.ts',
  'test/tasks/cycles.test.ts',
  'test/trail/strings.test.ts',
];
const ON_POSTGRES = 'test/postgres/*.test.ts';
/** Of these, what depends on which statements of the process have a name already, or on its connections. */
const ISOLATED = 'test/postgres/{driver,network,packets,pooler,wedged}.test.ts';
/** What an SQLite driver or a JavaScript engine can get wrong: `--mode drivers` runs these on every version of Node. */
const ON_EVERY_DRIVER = [
  'src/trust/open-database.test.ts',
  'src/db/sqlite/**/*.test.ts',
  'src/integrity/*{json,text,grammar,entry}*.test.ts',
  'test/faults/changed-schema.test.ts',
  'test/tasks/{cycles,cycle-search,tamper}.test.ts',
  'test/verification/{fast-rows,grammar,search-origins,single-edits,tamper-*}.test.ts',
];

/**
 * Of these, what depends on the driver, which the other versions of Node share, and hardly on their SQLite: run on that
 * version alone. A test that is not listed here runs on all of them.
 */
const ON_ONE_DRIVER: Readonly<Record<string, string[]>> = {
  22: [
    'test/tasks/{cycles,cycle-search}.test.ts',
    'test/verification/{fast-rows,grammar,tamper-columns,tamper-rows}.test.ts',
  ],
  24: [
    'test/faults/changed-schema.test.ts',
    'test/tasks/tamper.test.ts',
    'test/verification/{search-origins,single-edits,tamper-duplicates,tamper-entries,tamper-tables}.test.ts',
  ],
};

/** The tests of the server contract, and what they must cover. `npm test` runs them apart, with `--mode coverage`. */
const OF_THE_CONTRACT = [
  'src/{config,config-agent-id,config-command,config-hook,config-paths,modes,server,server-start}.test.ts',
];
const WHOLE = { statements: 100, functions: 100, lines: 100 };
const coverage = {
  provider: 'v8' as const,
  include: ['src/{config,modes,server}.ts'],
  reporter: ['text'],
  thresholds: {
    'src/{modes,server}.ts': { ...WHOLE, branches: 100 },
    // Windows, and a user without a home folder.
    'src/config.ts': { ...WHOLE, branches: 95 },
  },
};

const plugins = [
  {
    name: 'sql-as-text',
    enforce: 'pre' as const,
    load: (id: string) =>
      id.endsWith('.sql') ? `export default ${JSON.stringify(readFileSync(id, 'utf8'))}` : undefined,
  },
];

/** The tests of a mode that runs only some of them. */
const INCLUDED: Readonly<Record<string, string[]>> = { drivers: ON_EVERY_DRIVER, coverage: OF_THE_CONTRACT };

/** The tests that a mode leaves out, because another run of `npm test` has them. */
function listExcluded(mode: string): string[] {
  if (mode === 'whole') return OF_THE_CONTRACT;
  const [running = ''] = process.versions.node.split('.');
  if (mode !== 'drivers' || !(running in ON_ONE_DRIVER)) return [];
  return Object.entries(ON_ONE_DRIVER).flatMap(([version, files]) => (version === running ? [] : files));
}

interface Isolation {
  readonly isolate: boolean;
  readonly exclude?: string[];
}

export default defineConfig(({ mode }) => {
  const run: 'test' | 'drivers' | 'torture' = mode === 'torture' || mode === 'drivers' ? mode : 'test';
  // What the user has accepted and signed changes no test, and no test changes it. Only tests of signatures sign.
  const config = mkdtempSync(join(tmpdir(), 'colibri-test-config-'));
  process.on('exit', () => rmSync(config, { recursive: true, force: true }));
  const common = {
    env: { COLIBRI_KEY_PATH: 'none', XDG_CONFIG_HOME: config },
    // Only ends what hangs: on a busy machine an installation takes minutes.
    testTimeout: run === 'torture' ? 1_800_000 : 180_000,
    hookTimeout: 300_000,
  };
  const onPostgres = (name: string, include: string[], { isolate, exclude = [] }: Isolation) => ({
    plugins,
    test: { ...common, name, include, exclude, isolate, provide: { engine: 'postgres' as const, run } },
  });
  const everyPostgresTest = [...ON_EVERY_ENGINE, ON_POSTGRES];
  return {
    plugins,
    test: {
      // At the root and not inherited: a project that inherits it would build and start PostgreSQL once more. The tests
      // on another version of Node use what was built before, and no PostgreSQL.
      globalSetup: mode === 'drivers' || mode === 'coverage' ? [] : ['test/support/global-setup.ts'],
      ...(mode === 'coverage' ? { coverage } : {}),
      // Most tests wait for processes of their own; left to itself vitest would use one of two cores.
      maxWorkers: '100%',
      projects: [
        {
          plugins,
          test: {
            ...common,
            name: 'sqlite',
            include: INCLUDED[mode] ?? ['src/**/*.test.ts', 'test/**/*.test.ts'],
            exclude: [ON_POSTGRES, ...listExcluded(mode)],
            // Loading the modules for each file again took a quarter of the time. Tests must leave nothing in them.
            isolate: false,
            provide: { engine: 'sqlite' as const, run },
          },
        },
        // `npm test` loads the modules once for the tests of both engines, which halves what they cost.
        ...(mode === 'whole'
          ? [
              onPostgres('postgres-and-sqlite', everyPostgresTest, {
                isolate: false,
                exclude: [ISOLATED, ...ON_POSTGRES_IN_TORTURE],
              }),
              onPostgres('postgres', [ISOLATED], { isolate: true }),
            ]
          : [onPostgres('postgres', everyPostgresTest, { isolate: true })]),
      ],
    },
  };
});
