import type { TestProject } from 'vitest/node';
import { buildForTests } from '../../scripts/test/build.mjs';
import { Cluster, memoryFolder } from './postgres/cluster.ts';
import { dropTestSchemas } from './postgres/database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    readonly postgresUrl: string;
  }
}

/** Builds what the tests start, unless `npm test` has done so, and starts PostgreSQL meanwhile. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const build = process.env['COLIBRI_TEST_IS_BUILT'] === '1' ? undefined : buildForTests();
  const [stopPostgres] = await Promise.all([startPostgres(project), build]);
  return stopPostgres;
}

/** One PostgreSQL for all tests that do not harm it: the one that the environment names, or a new one. */
async function startPostgres(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['COLIBRI_TEST_DATABASE_URL'];
  if (given) {
    project.provide('postgresUrl', given);
    return () => dropTestSchemas(given);
  }
  // Thousands of small tables that live for seconds: it would only read the catalog again and again.
  const cluster = await Cluster.create(['autovacuum=off'], memoryFolder());
  project.provide('postgresUrl', cluster.url());
  return () => cluster.stop();
}
