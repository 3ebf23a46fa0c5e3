import type { TestProject } from 'vitest/node';
import { buildAll } from '../../scripts/build.mjs';
import { bundle } from '../../scripts/bundle.mjs';
import { Cluster, memoryFolder } from './postgres/cluster.ts';
import { dropTestSchemas } from './postgres/database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    readonly postgresUrl: string;
  }
}

/** Builds the bundle, because tests of the program run what users run, and starts PostgreSQL meanwhile. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [stopPostgres] = await Promise.all([startPostgres(project), build()]);
  return stopPostgres;
}

async function build(): Promise<void> {
  await buildAll();
  await bundle({ entryPoints: ['test/support/programs/*.ts'], outdir: 'dist/test' });
}

/** One PostgreSQL for all tests that do not harm it: the one that the environment names, or a new one. */
async function startPostgres(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['COLIBRI_TEST_DATABASE_URL'];
  if (given) {
    project.provide('postgresUrl', given);
    return () => dropTestSchemas(given);
  }
  const cluster = await Cluster.create([], memoryFolder());
  project.provide('postgresUrl', cluster.url());
  return () => cluster.stop();
}
