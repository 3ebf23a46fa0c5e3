import type { Cluster } from './cluster.ts';
import { blocksOf } from './page.ts';
import { queryOn, runOn } from './server.ts';

const DATABASE = 'colibri';

/** The roles of docs/postgres.md, made by its scripts; `createLedger` starts a server once as the owner. */
export async function createRoles(cluster: Cluster, createLedger: (ownerUrl: string) => Promise<void>): Promise<void> {
  const [roles = '', grants = ''] = blocksOf('Roles', 'sql');
  // One by one: a database cannot be created together with anything else.
  for (const statement of roles.split(';').filter((text) => text.trim() !== '')) await runOn(cluster.url(), statement);
  await createLedger(roleUrl(cluster, 'colibri_owner'));
  await runOn(roleUrl(cluster, 'colibri_owner'), grants);
}

export function roleUrl(cluster: Cluster, role: string): string {
  const url = new URL(cluster.url(DATABASE));
  url.username = role;
  return url.href;
}

/** The SQLSTATE of a refusal; undefined when the statement was carried out, which it must not be. */
export async function refusalOf(url: string, statement: string): Promise<string | undefined> {
  try {
    await queryOn(url, statement);
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
}
