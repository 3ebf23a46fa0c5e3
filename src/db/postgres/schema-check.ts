import { parseJson } from '../../integrity/index.ts';
import type { Reader } from '../database.ts';
import { SCHEMA_VERSION } from '../migrate.ts';
import { difference, type SchemaDifference, type SchemaReport } from '../schema/difference.ts';
import { POSTGRES_SCHEMA } from './schema.ts';
import { listSchemaFacts, type SchemaFact } from './schema-facts.ts';

/**
 * Compares the schema of a PostgreSQL ledger with the one that the migrations make, in the words of the server: tables
 * with every property of their columns, constraints, indexes, views, and whatever acts on them. The expected words are
 * stored: most roles, and every replica, may not create tables to compare with.
 */
export async function checkPostgresSchema(reader: Reader): Promise<SchemaReport> {
  const facts = await listSchemaFacts(reader);
  const mark = await readMark(reader, facts);
  const claimed = Math.abs(mark ?? SCHEMA_VERSION);
  const { version, differences } = findVersion(facts, Math.min(claimed, SCHEMA_VERSION));
  const isMarkRight = mark !== undefined && version === claimed;
  const isNewer = claimed > SCHEMA_VERSION && differences.length > 0;
  return {
    version: mark ?? 0,
    isLedger: ['ledger_entries', 'ledger_head'].every((name) => facts.some((fact) => fact.name === name)),
    isMarked: true,
    // A view in the place of a table, a rule or a policy would run its functions as the role that verifies.
    isSafeToRead: differences.length === 0,
    // A newer program has made its own tables; nothing is known about them here.
    differences: isNewer ? [] : [...(isMarkRight ? [] : [describeMark(mark, version)]), ...differences],
  };
}

/** What the migrations up to this version make; version 0 has the mark of a ledger and nothing else. */
export function expectedFacts(version: number): SchemaFact[] {
  return POSTGRES_SCHEMA.trim()
    .split('\n')
    .map((line) => parseJson(line) as StoredFact)
    .filter(([, , , , since, until]) => since <= version && version <= (until ?? version))
    .map(([kind, name, owner, text]) => ({ kind, name, owner, text }));
}

type StoredFact = readonly [
  kind: string,
  name: string,
  owner: string,
  text: string,
  since: number,
  until: number | null,
];

/** The version that the ledger claims; undefined when it does not say one. */
async function readMark(reader: Reader, facts: readonly SchemaFact[]): Promise<number | undefined> {
  if (facts.length === 0) return 0;
  // A view in the place of the table would run when it is read.
  if (compare(facts.filter(isOfMark), expectedFacts(0)).length > 0) return undefined;
  const rows = await reader.query<{ id: number; schema_version: number }>('SELECT id, schema_version FROM colibri');
  return rows.length === 1 && rows[0]?.id === 1 ? rows[0].schema_version : undefined;
}

function isOfMark({ name, owner }: SchemaFact): boolean {
  return name === 'colibri' || owner === 'colibri';
}

function describeMark(mark: number | undefined, version: number): SchemaDifference {
  return difference('colibri', `it says version ${mark ?? 'nothing'}, and the tables are those of ${version}`);
}

interface Match {
  readonly version: number;
  readonly differences: readonly SchemaDifference[];
}

/** The version whose schema this is; where it is that of none, the claimed one with all differences. */
function findVersion(facts: readonly SchemaFact[], claimed: number): Match {
  const differences = facts.length === 0 ? [] : compare(facts, expectedFacts(claimed));
  if (differences.length === 0) return { version: claimed, differences };
  for (let version = SCHEMA_VERSION; version >= 0; version -= 1)
    if (compare(facts, expectedFacts(version)).length === 0) return { version, differences: [] };
  return { version: claimed, differences };
}

function compare(facts: readonly SchemaFact[], expected: readonly SchemaFact[]): SchemaDifference[] {
  const missing = new Map(expected.map((fact) => [keyOf(fact), fact]));
  const differences: SchemaDifference[] = [];
  for (const fact of facts) {
    const wanted = missing.get(keyOf(fact));
    missing.delete(keyOf(fact));
    if (wanted === undefined) differences.push(difference(fact.name, `unexpected ${describe(fact)}`));
    else if (wanted.text !== fact.text)
      differences.push(
        difference(fact.name, `${describe(fact)} has ${onlyIn(fact, wanted)} in place of ${onlyIn(wanted, fact)}`),
      );
  }
  for (const fact of missing.values()) differences.push(difference(fact.name, `${describe(fact)} is missing`));
  return differences;
}

function keyOf({ kind, name, owner }: SchemaFact): string {
  return JSON.stringify([kind, name, owner]);
}

function describe({ kind, owner }: SchemaFact): string {
  return owner === '' ? kind : `${kind} of ${owner}`;
}

const MAX_TEXT = 300;

/** The columns that only the first of two definitions has, or all of it; without semicolons, which end a reason. */
function onlyIn(fact: SchemaFact, other: SchemaFact): string {
  const others = new Set(columnsOf(other));
  const own = columnsOf(fact).filter((part) => !others.has(part));
  const shown =
    own
      .join(', ')
      .replaceAll(/[;\s]+/g, ' ')
      .trim() || 'nothing';
  return shown.length > MAX_TEXT ? `${shown.slice(0, MAX_TEXT)}…` : shown;
}

function columnsOf({ kind, text }: SchemaFact): string[] {
  return kind === 'table' && text.startsWith('(') ? text.slice(1, -1).split(', ') : [text];
}
