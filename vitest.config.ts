import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

/** What must be the same on every engine: run on each of them. */
const ON_EVERY_ENGINE = [
  'test/agents/*.test.ts',
  'test/brief/library.test.ts',
  'test/tasks/*.test.ts',
  'test/trail/{bad-input,hash,migration,processes,proofs,sessions,strings,tools}.test.ts',
  'test/verification/{chain-report,grammar,grammar-honest,natural-order,tamper-entries,tamper-tables}.test.ts',
];
const ON_POSTGRES = 'test/postgres/*.test.ts';
/** What an SQLite driver or a JavaScript engine can get wrong: `--mode drivers` runs these on every version of Node. */
const ON_EVERY_DRIVER = [
  'src/db/open.test.ts',
  'src/db/sqlite/**/*.test.ts',
  'src/integrity/*{json,text,grammar,entry}*.test.ts',
  'test/faults/changed-schema.test.ts',
  'test/tasks/{cycles,cycle-search,tamper}.test.ts',
  'test/verification/{fast-rows,grammar,search-origins,single-edits,tamper-*}.test.ts',
];

const plugins = [
  {
    name: 'sql-as-text',
    enforce: 'pre' as const,
    load: (id: string) =>
      id.endsWith('.sql') ? `export default ${JSON.stringify(readFileSync(id, 'utf8'))}` : undefined,
  },
];

export default defineConfig(({ mode }) => {
  const common = { testTimeout: 60_000, hookTimeout: 60_000 };
  const isTorture = mode === 'torture';
  return {
    plugins,
    test: {
      // At the root and not inherited: a project that inherits it would build and start PostgreSQL once more. The tests
      // on another version of Node use what was built before, and no PostgreSQL.
      globalSetup: mode === 'drivers' ? [] : ['test/support/build.ts', 'test/support/postgres/setup.ts'],
      // Most tests wait for processes of their own; left to itself vitest would use one of two cores.
      maxWorkers: '100%',
      projects: [
        {
          plugins,
          test: {
            ...common,
            name: 'sqlite',
            include: mode === 'drivers' ? ON_EVERY_DRIVER : ['src/**/*.test.ts', 'test/**/*.test.ts'],
            exclude: [ON_POSTGRES],
            // Loading the modules for each file again took a quarter of the time. Tests must leave nothing in them.
            isolate: false,
            provide: { engine: 'sqlite' as const, isTorture },
          },
        },
        {
          plugins,
          test: {
            ...common,
            name: 'postgres',
            // Isolated, because some tests depend on which statements of the process have a name already.
            include: [...ON_EVERY_ENGINE, ON_POSTGRES],
            provide: { engine: 'postgres' as const, isTorture },
          },
        },
      ],
    },
  };
});
