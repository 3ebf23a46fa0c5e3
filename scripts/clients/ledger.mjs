// Reads the observations of a ledger, and what its commands say about it.
import { join } from 'node:path';
import { loadSources } from '../docs/load-sources.mjs';

const SOURCES = "export { openDatabase } from './src/trust/open-database.ts';";
const SQL = `SELECT e.entry, o.content FROM observations o JOIN ledger_entries e ON e.idx = o.idx ORDER BY o.idx`;

/** In log order, as `{ entry, content }`. */
export async function readObservations(project) {
  const { openDatabase } = await loadSources('clients', SOURCES);
  const dbPath = join(project, '.colibri/colibri.db');
  const database = await openDatabase({ dbPath, mode: 'READONLY', durability: 'full', readOnly: true });
  try {
    const rows = await database.read((reader) => reader.query(SQL));
    return rows.map(({ entry, content }) => ({ entry: JSON.parse(entry), content: JSON.parse(content) }));
  } finally {
    await database.close();
  }
}
