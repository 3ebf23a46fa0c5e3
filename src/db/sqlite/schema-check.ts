import type { Reader } from '../database.ts';
import { SCHEMA_VERSION } from '../migrate.ts';
import { difference, type SchemaDifference, type SchemaReport } from '../schema/difference.ts';
import { APPLICATION_ID } from './pragmas.ts';
import {
  listSchemaObjects,
  readBehavior,
  referenceSchema,
  type SchemaObject,
  type SqliteSchema,
  storedSchema,
} from './schema.ts';

/**
 * Compares the schema of a file with the one that the migrations create: every text byte for byte, and how SQLite
 * interprets it. Reads only sqlite_schema until that matches, because a view in the file would run in this process.
 */
export async function checkSqliteSchema(reader: Reader): Promise<SchemaReport> {
  const header = await readHeader(reader);
  const objects = await listSchemaObjects(reader);
  const isMarked = header.applicationId === APPLICATION_ID;
  if (objects.length === 0 && header.version === 0)
    return { version: 0, isLedger: false, isMarked: true, isSafeToRead: true, differences: [] };
  const claimed = Math.abs(header.version);
  const isKnown = claimed > 0 && claimed <= SCHEMA_VERSION;
  const { version, differences } = await findVersion(reader, objects, isKnown ? claimed : SCHEMA_VERSION);
  return {
    version: header.version,
    isLedger: ['ledger_entries', 'ledger_head'].every((name) => objects.some((object) => object.name === name)),
    isMarked,
    // A view that replaces a table, a computed column or an index on an expression would run while it is read.
    isSafeToRead: differences.length === 0,
    // The tables of a newer version are unknown here.
    differences:
      header.version > SCHEMA_VERSION && differences.length > 0
        ? []
        : [...compareHeader(header, version), ...differences],
  };
}

function compareHeader({ applicationId, version, encoding }: Header, actual: number): SchemaDifference[] {
  const wrong: SchemaDifference[] = [];
  if (applicationId !== APPLICATION_ID)
    wrong.push(difference('application_id', `it is ${applicationId}, not ${APPLICATION_ID}`));
  if (Math.abs(version) !== actual)
    wrong.push(difference('user_version', `it is ${version}, and the tables are those of ${actual}`));
  if (encoding !== 'UTF-8') wrong.push(difference('encoding', `it is ${encoding}, not UTF-8`));
  return wrong;
}

interface Header {
  readonly applicationId: number;
  readonly version: number;
  readonly encoding: string;
}

/** One PRAGMA statement each: a table of the file that is named like a pragma function would be read instead. */
async function readHeader(reader: Reader): Promise<Header> {
  const [id] = await reader.query<{ application_id: number }>('PRAGMA application_id');
  const [version] = await reader.query<{ user_version: number }>('PRAGMA user_version');
  const [encoding] = await reader.query<{ encoding: string }>('PRAGMA encoding');
  return {
    applicationId: id?.application_id ?? 0,
    version: version?.user_version ?? 0,
    encoding: encoding?.encoding ?? '',
  };
}

interface Match {
  readonly version: number;
  readonly differences: readonly SchemaDifference[];
}

/** The version with exactly this schema, or the claimed version with all differences. */
async function findVersion(reader: Reader, objects: readonly SchemaObject[], claimed: number): Promise<Match> {
  const stored = claimed === SCHEMA_VERSION ? storedSchema() : undefined;
  if (stored !== undefined && (await compare(reader, objects, stored)).length === 0)
    return { version: claimed, differences: [] };
  const differences = await compare(reader, objects, await referenceSchema(claimed));
  if (differences.length === 0) return { version: claimed, differences };
  for (let version = SCHEMA_VERSION; version > 0; version -= 1)
    if (version !== claimed && (await compare(reader, objects, await referenceSchema(version))).length === 0)
      return { version, differences: [] };
  return { version: claimed, differences };
}

async function compare(
  reader: Reader,
  objects: readonly SchemaObject[],
  reference: SqliteSchema,
): Promise<readonly SchemaDifference[]> {
  const differences = [...compareObjects(objects, reference.objects), ...checkRootPages(objects)];
  if (differences.length > 0) return differences;
  const behavior = await readBehavior(reader);
  return [...reference.behavior]
    .filter(([name, text]) => behavior.get(name) !== text)
    .map(([name]) => difference(name, 'SQLite gives it other columns, indexes or keys'));
}

function compareObjects(
  objects: readonly SchemaObject[],
  expected: readonly SchemaObject[],
): readonly SchemaDifference[] {
  const missing = new Map(expected.map((object) => [object.name, object]));
  const differences: SchemaDifference[] = [];
  for (const object of objects) {
    const wanted = missing.get(object.name);
    missing.delete(object.name);
    if (wanted === undefined) differences.push(difference(object.name, describeUnexpected(object)));
    else if (wanted.bytes !== object.bytes) differences.push(difference(object.name, describeChange(object, wanted)));
  }
  for (const { name, type } of missing.values()) differences.push(difference(name, `the ${type} is missing`));
  return differences;
}

function describeUnexpected({ type, name, table }: SchemaObject): string {
  return name === table ? `unexpected ${type}` : `unexpected ${type} on ${table}`;
}

function describeChange(object: SchemaObject, wanted: SchemaObject): string {
  if (object.type !== wanted.type) return `it is a ${object.type}, not a ${wanted.type}`;
  if (object.table !== wanted.table) return `the ${object.type} is on ${object.table}, not on ${wanted.table}`;
  return `the definition of the ${object.type} was changed`;
}

/** Objects that share pages overwrite each other; page 1 holds the schema itself. */
function checkRootPages(objects: readonly SchemaObject[]): readonly SchemaDifference[] {
  const owners = new Map<string, string>();
  return objects.flatMap(({ name, type, sql, rootPage }) => {
    if (!hasPages(type, sql))
      return rootPage === '0' ? [] : [difference(name, `the ${type} has root page ${rootPage}, and needs none`)];
    const owner = owners.get(rootPage);
    owners.set(rootPage, name);
    if (!/^[1-9]\d*$/.test(rootPage) || rootPage === '1')
      return [difference(name, `the ${type} has root page ${rootPage}`)];
    return owner === undefined ? [] : [difference(name, `the ${type} has the root page of ${owner}`)];
  });
}

function hasPages(type: string, sql: string): boolean {
  return type === 'index' || (type === 'table' && !isVirtual(sql));
}

function isVirtual(sql: string): boolean {
  return /^CREATE\s+VIRTUAL/i.test(sql);
}
