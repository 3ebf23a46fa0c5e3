import type { TestProject } from 'vitest/node';
import { Cluster, memoryFolder } from './cluster.ts';
import { dropTestSchemas } from './database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    readonly postgresUrl: string;
  }
}

/** One PostgreSQL for all tests that do not harm it: that of the environment, or one that is started here. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['COLIBRI_TEST_DATABASE_URL'];
  if (given) {
    project.provide('postgresUrl', given);
    return () => dropTestSchemas(given);
  }
  const cluster = await Cluster.create([], memoryFolder());
  project.provide('postgresUrl', cluster.url());
  return () => cluster.stop();
}
