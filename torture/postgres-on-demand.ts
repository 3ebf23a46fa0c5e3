import { Cluster } from '../test/support/postgres/cluster.ts';
import { newSchema } from '../test/support/postgres/database.ts';

/** A PostgreSQL server that starts when the first round asks for a schema. */
export class PostgresOnDemand {
  #cluster: Promise<Cluster> | undefined;
  #schemas = 0;

  async newUrl(): Promise<string> {
    this.#cluster ??= Cluster.create();
    this.#schemas += 1;
    return newSchema((await this.#cluster).url(), `torture_${this.#schemas}`);
  }

  async stop(): Promise<void> {
    await (await this.#cluster)?.stop();
  }
}
