import { parseJson } from '../../integrity/index.ts';
import type { Reader } from '../database.ts';
import { SCHEMA_VERSION } from '../migrate.ts';
import { difference, type SchemaDifference, type SchemaReport } from '../schema/difference.ts';
import { POSTGRES_SCHEMA } from './schema.ts';
import { listSchemaFacts, type SchemaFact } from './schema-facts.ts';

/**
 * Compares the server's description of a ledger's schema with the stored description of what the migrations create.
 * It is stored because most roles, and every replica, cannot create tables to compare with.
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
    // A view that replaces a table, a rule or a policy would run its functions as the role that verifies.
    isSafeToRead: differences.length === 0,
    // The tables of a newer version are unknown here.
    differences: isNewer ? [] : [...(isMarkRight ? [] : [describeMark(mark, version)]), ...differences],
  };
}

/** What the migrations up to this version create; version 0 has only the table that marks a ledger. */
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

/** The version that the ledger claims; undefined if its mark is malformed. */
async function readMark(reader: Reader, facts: readonly SchemaFact[]): Promise<number | undefined> {
  if (facts.length === 0) return 0;
  // Reading a view that replaces the table would run it.
  if (compare(facts.filter(isOfMark), expectedFacts(0)).length > 0) return undefined;
  const rows = await reader.query<{ id: number; schema_version: number }>('SELECT id, schema_version FROM colibri');
  return rows.length === 1 && rows[0]?.id === 1 ? rows[0].schema_version : undefined;
}

function isOfMark({ name, owner }: SchemaFact): boolean {
  return name === 'colibri' || owner === 'colibri';
}

function describeMark(mark: number | undefined, version: number): SchemaDifference {
  return difference(
    'colibri',
    `it is marked as version ${mark ?? 'nothing'}, but the tables are those of version ${version}`,
  );
}

interface Match {
  readonly version: number;
  readonly differences: readonly SchemaDifference[];
}

/** The version with exactly this schema, or the claimed version with all differences. */
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

/** The columns that only the first of two definitions has, or all of it, on one line. */
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
