import type { Reader } from '../database.ts';

/** An object of a PostgreSQL schema, or one that acts on it, as the server describes it. */
export interface SchemaFact {
  readonly kind: string;
  readonly name: string;
  /** The table that it belongs to, or an empty string. */
  readonly owner: string;
  readonly text: string;
}

interface FactRow extends SchemaFact {
  /** Not 0 for an object of an extension, which an administrator may install beside the ledger. */
  readonly is_extension: number;
}

/**
 * Lists everything in the current schema, and objects elsewhere that act on it. Reads only catalogs: it needs no
 * privilege, works on a replica, and evaluates nothing that the schema defines.
 */
export async function listSchemaFacts(reader: Reader): Promise<SchemaFact[]> {
  // Until the end of the transaction the server qualifies every name of another schema.
  const narrowed = reader.query<{ server: number }>(
    `SELECT current_setting('server_version_num')::int AS server,
       set_config('search_path', quote_ident(current_schema()), true)`,
  );
  const facts = reader.query<FactRow>(FACTS);
  const [[settings], found] = await Promise.all([narrowed, facts]);
  const isOld = (settings?.server ?? 0) < UNQUALIFIED_COLUMNS;
  return found
    .filter((fact) => fact.is_extension === 0)
    .map(({ kind, name, owner, text }) => ({
      kind,
      name,
      owner,
      text: isOld && kind === 'view' ? withoutQualifiers(text) : text,
    }));
}

/** PostgreSQL 16 and later print the columns of a view over one table without the table's name. */
const UNQUALIFIED_COLUMNS = 160_000;

/** Not after FROM, where `calls.` would be a schema, and not before a parenthesis, where it would be a function. */
function withoutQualifiers(text: string): string {
  return text.replaceAll(/(?<=[\s(])(?<!FROM |JOIN )calls\.(?=[a-z_]+[\s,)])/g, '');
}

const COLUMNS = `
  SELECT string_agg(concat_ws(' ', quote_ident(a.attname), format_type(a.atttypid, a.atttypmod),
      (SELECT 'COLLATE ' || n.nspname || '.' || quote_ident(l.collname)
         FROM pg_collation AS l JOIN pg_namespace AS n ON n.oid = l.collnamespace WHERE l.oid = a.attcollation),
      CASE WHEN a.attnotnull THEN 'NOT NULL' END,
      CASE WHEN a.attidentity <> '' THEN 'IDENTITY ' || a.attidentity::text END,
      CASE WHEN a.attgenerated <> '' THEN 'GENERATED ' || a.attgenerated::text END,
      (SELECT 'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef AS d
         WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum)), ', ' ORDER BY a.attnum)
  FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped`;

/** The parts before the columns appear only for kinds of relations that a ledger does not have. */
const RELATIONS = `
  SELECT CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' ELSE 'relation' END AS kind, c.relname AS name, '' AS owner,
    concat_ws(' ',
      CASE WHEN c.relkind NOT IN ('r', 'v') THEN 'KIND ' || c.relkind::text END,
      CASE WHEN c.relpersistence <> 'p' THEN 'PERSISTENCE ' || c.relpersistence::text END,
      CASE WHEN c.relispartition THEN 'PARTITION' END,
      CASE WHEN c.reloftype <> 0 THEN 'OF ' || c.reloftype::regtype::text END,
      (SELECT 'USING ' || m.amname FROM pg_am AS m WHERE m.oid = c.relam AND m.amname <> 'heap'),
      CASE WHEN c.relkind = 'v' THEN 'WITH ' || c.reloptions::text END,
      '(' || (${COLUMNS}) || ')',
      CASE WHEN c.relkind = 'v' THEN 'AS ' || pg_get_viewdef(c.oid) END) AS text,
    ${ofExtension('pg_class', 'c.oid')} AS is_extension
  FROM pg_class AS c, here WHERE c.relnamespace = here.oid AND c.relkind NOT IN ('i', 'I')`;

/** PostgreSQL 18 also lists NOT NULL, which is part of the columns; only unvalidated ones are listed here. */
const CONSTRAINTS = `
  SELECT 'constraint', k.conname, c.relname,
    pg_get_constraintdef(k.oid) || CASE WHEN k.convalidated THEN '' ELSE ' UNCHECKED' END, 0
  FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid, here
  WHERE c.relnamespace = here.oid AND (k.contype <> 'n' OR NOT k.convalidated)
  UNION ALL
  SELECT 'constraint', k.conname, k.conrelid::regclass::text, 'it refers to ' || c.relname, 0
  FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.confrelid JOIN pg_class AS other ON other.oid = k.conrelid, here
  WHERE c.relnamespace = here.oid AND other.relnamespace <> here.oid`;

const INDEXES = `
  SELECT 'index', x.relname, c.relname, concat_ws(' ', pg_get_indexdef(i.indexrelid, 0, true),
    CASE WHEN NOT (i.indisvalid AND i.indisready AND i.indislive) THEN 'INVALID' END,
    CASE WHEN NOT i.indimmediate THEN 'DEFERRED' END), 0
  FROM pg_index AS i JOIN pg_class AS x ON x.oid = i.indexrelid JOIN pg_class AS c ON c.oid = i.indrelid, here
  WHERE c.relnamespace = here.oid`;

/** Objects that act on a table without being called; a ledger has none. */
const ACTORS = `
  SELECT 'trigger', t.tgname, c.relname, pg_get_triggerdef(t.oid), 0
  FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid, here WHERE c.relnamespace = here.oid AND t.tgconstraint = 0
  UNION ALL
  SELECT 'rule', r.rulename, c.relname, pg_get_ruledef(r.oid), 0
  FROM pg_rewrite AS r JOIN pg_class AS c ON c.oid = r.ev_class, here
  WHERE c.relnamespace = here.oid AND (r.rulename <> '_RETURN' OR c.relkind NOT IN ('v', 'm'))
  UNION ALL
  SELECT 'row security', c.relname || ' (row security)', c.relname, '', 0
  FROM pg_class AS c, here WHERE c.relnamespace = here.oid AND (c.relrowsecurity OR c.relforcerowsecurity)
  UNION ALL
  SELECT 'policy', p.polname, c.relname, '', 0
  FROM pg_policy AS p JOIN pg_class AS c ON c.oid = p.polrelid, here WHERE c.relnamespace = here.oid
  UNION ALL
  SELECT 'statistics', s.stxname, c.relname, '', 0
  FROM pg_statistic_ext AS s JOIN pg_class AS c ON c.oid = s.stxrelid, here
  WHERE c.relnamespace = here.oid OR s.stxnamespace = here.oid
  UNION ALL
  SELECT 'inheritance', child.relname, parent.relname, child.oid::regclass::text, 0
  FROM pg_inherits AS h JOIN pg_class AS child ON child.oid = h.inhrelid JOIN pg_class AS parent ON parent.oid = h.inhparent, here
  WHERE here.oid IN (child.relnamespace, parent.relnamespace) AND child.relkind NOT IN ('i', 'I')`;

/** Objects that could shadow a name in our statements. Array types belong to their element type. */
const OTHERS = [
  ['function', 'pg_proc', 'proname', 'pronamespace', ''],
  ['operator', 'pg_operator', 'oprname', 'oprnamespace', ''],
  ['operator class', 'pg_opclass', 'opcname', 'opcnamespace', ''],
  ['operator family', 'pg_opfamily', 'opfname', 'opfnamespace', ''],
  ['collation', 'pg_collation', 'collname', 'collnamespace', ''],
  ['conversion', 'pg_conversion', 'conname', 'connamespace', ''],
  ['text search configuration', 'pg_ts_config', 'cfgname', 'cfgnamespace', ''],
  ['text search dictionary', 'pg_ts_dict', 'dictname', 'dictnamespace', ''],
  [
    'type',
    'pg_type',
    'typname',
    'typnamespace',
    'AND o.typrelid = 0 AND NOT EXISTS (SELECT 1 FROM pg_type AS e WHERE e.typarray = o.oid)',
  ],
] as const;

const FACTS = `WITH here AS (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
  ${[
    RELATIONS,
    CONSTRAINTS,
    INDEXES,
    ACTORS,
    ...OTHERS.map(
      ([kind, catalog, name, namespace, condition]) =>
        `SELECT '${kind}', o.${name}, '', '', ${ofExtension(catalog, 'o.oid')} FROM ${catalog} AS o, here
         WHERE o.${namespace} = here.oid ${condition}`,
    ),
  ].join(' UNION ALL ')}`;

function ofExtension(catalog: string, oid: string): string {
  return `(SELECT count(*) FROM pg_depend AS dep
    WHERE dep.classid = '${catalog}'::regclass AND dep.objid = ${oid} AND dep.deptype = 'e')`;
}
