import type * as z from 'zod';
import type { SqlValue } from '../../../db/database.ts';
import { type Fields, type Form, optional } from '../../../integrity/forms.ts';
import { canonicalize, parseJson } from '../../../integrity/index.ts';
import { shapeOf } from '../../../integrity/parse-json.ts';
import type { FieldType, InputType } from './types.ts';

/** Everything that follows from a table of fields, for any table. */

interface BaseField {
  readonly type: FieldType;
  /** The name of the column, where it is not the name of the field. */
  readonly column?: string;
  /** The value in a new record for which the caller gives none. */
  readonly initial?: unknown;
}

/** A field that only the server sets. */
interface ServerField extends BaseField {
  readonly create?: never;
  readonly update?: never;
}

/** How a tool takes a field: required, or optional with an optional hint for the model that reads tools/list. */
type Setting = true | 'required' | { readonly hint: string };

interface InputField extends BaseField {
  readonly type: InputType;
  readonly create?: Setting;
  readonly update?: Setting;
  /** Callers may send null for the initial value. */
  readonly clearable?: true;
}

/**
 * A field added after a release. Contents recorded before have no such key, so a content omits the field while it has
 * its initial value: old and new records follow one grammar, and each content still has exactly one text.
 */
interface AddedField extends InputField {
  readonly initial: string | number | null;
  readonly addedLater: true;
}

export type FieldTable = Readonly<Record<string, ServerField | InputField | AddedField>>;

type AnyField = BaseField & Partial<Omit<AddedField, keyof BaseField>>;

type ValueOf<Field extends BaseField> = ReturnType<Field['type']['fromColumn']>;

export type RecordOf<Table extends FieldTable> = { readonly [Name in keyof Table]: ValueOf<Table[Name]> };

export type RowOf<Table extends FieldTable> = {
  readonly [Name in keyof Table as Table[Name] extends { readonly column: infer Column extends string }
    ? Column
    : Name]: ReturnType<Table[Name]['type']['toColumn']>;
};

export type ToolName = 'create' | 'update';

type InputName<Table extends FieldTable, Tool extends ToolName> = {
  [Name in keyof Table]: Table[Name] extends Readonly<Record<Tool, Setting>> ? Name : never;
}[keyof Table];

type Given<Field extends BaseField> = ValueOf<Field> | (Field extends { readonly clearable: true } ? null : never);

export type InputShape<Table extends FieldTable, Tool extends ToolName> = {
  readonly [Name in InputName<Table, Tool>]: Table[Name] extends Readonly<Record<Tool, 'required'>>
    ? z.ZodType<ValueOf<Table[Name]>>
    : z.ZodOptional<z.ZodType<Given<Table[Name]>>>;
};

export type OutputShape<Table extends FieldTable, Names extends keyof Table> = {
  readonly [Name in Names]: null extends ValueOf<Table[Name]>
    ? z.ZodOptional<z.ZodType<NonNullable<ValueOf<Table[Name]>>>>
    : z.ZodType<ValueOf<Table[Name]>>;
};

export interface Derived<Table extends FieldTable> {
  readonly grammar: Fields;
  /** The fields that redaction empties. */
  readonly freeText: readonly { readonly name: string; readonly column: string }[];
  toRow(record: RecordOf<Table>): RowOf<Table>;
  fromRow(row: RowOf<Table>): RecordOf<Table>;
  /** The canonical text whose digest the log holds. */
  toContent(record: RecordOf<Table>): string;
  /** Reads a content that satisfies the grammar. */
  fromContent(content: string): RecordOf<Table>;
  /** What a caller gave, with null resolved to the initial value and each item of a list once. */
  given(tool: ToolName, input: object): Partial<RecordOf<Table>>;
  /** A record of these values, where later ones count, and of initial values for the rest. */
  complete(...values: readonly Partial<RecordOf<Table>>[]): RecordOf<Table>;
  inputShape<Tool extends ToolName>(tool: Tool): InputShape<Table, Tool>;
  outputShape<Name extends keyof Table>(names: readonly Name[]): OutputShape<Table, Name>;
  /** The columns of some fields, for a SELECT, and how to read such a row. */
  select<Name extends keyof Table & string>(names: readonly Name[]): Selection<Table, Name>;
}

export interface Selection<Table extends FieldTable, Name extends keyof Table> {
  readonly names: readonly Name[];
  readonly columns: string;
  read(row: Readonly<Record<string, SqlValue>>): Pick<RecordOf<Table>, Name>;
}

export function derive<Table extends FieldTable>(table: Table): Derived<Table> {
  // Records are hashed with their keys in this order, and canonicalize is fast for keys in order.
  const fields = Object.entries(table as Readonly<Record<string, AnyField>>)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, declared]) => {
      // The same keys for every field: loops are fast over objects of one shape.
      const { type, column = name, initial } = declared;
      return { name, column, type, initial, declared };
    });
  const added = fields.filter(({ declared }) => declared.addedLater);
  const inputs = (tool: ToolName) => fields.filter(({ declared }) => declared[tool] !== undefined);
  const inputsOf = { create: inputs('create'), update: inputs('update') };

  const emptyRecord = shapeOf(fields.map(({ name }) => name));
  const emptyContent = shapeOf(fields.filter(({ declared }) => !declared.addedLater).map(({ name }) => name));
  const emptyRow = shapeOf(fields.map(({ column }) => column));

  const build = (read: (field: (typeof fields)[number]) => unknown): never => {
    const record = emptyRecord();
    for (const field of fields) record[field.name] = read(field);
    return record as never;
  };
  const initials: Readonly<Record<string, unknown>> = build(({ initial }) => initial);

  return {
    grammar: Object.fromEntries(fields.map(({ name, declared }) => [name, formOf(declared)])),
    freeText: fields.filter(({ type }) => type.form.isFreeText).map(({ name, column }) => ({ name, column })),
    toRow: (record) => {
      const row = emptyRow();
      for (const { name, column, type } of fields) row[column] = type.toColumn(record[name]);
      return row as RowOf<Table>;
    },
    fromRow: (row) =>
      build(({ column, type }) => type.fromColumn((row as Record<string, SqlValue>)[column] as SqlValue)),
    toContent: (record) => {
      const kept = added.filter(({ name, initial }) => record[name] !== initial);
      if (kept.length === added.length) return canonicalize(record);
      const content = emptyContent();
      for (const name in content) content[name] = record[name];
      for (const { name } of kept) content[name] = record[name];
      return canonicalize(content);
    },
    fromContent: (content) => {
      const values = parseJson(content) as Readonly<Record<string, unknown>>;
      return added.length === 0 ? (values as never) : build(({ name, initial }) => values[name] ?? initial);
    },
    given: (tool, input) => {
      const values: Record<string, unknown> = {};
      for (const { name, initial } of inputsOf[tool]) {
        const value = (input as Readonly<Record<string, unknown>>)[name];
        if (value === undefined) continue;
        values[name] = Array.isArray(value) ? [...new Set(value)] : (value ?? initial);
      }
      return values as Partial<RecordOf<Table>>;
    },
    complete: (...values) => {
      const record: Record<string, unknown> = { ...initials };
      for (const some of values) for (const name in some) record[name] = some[name] ?? initials[name];
      return record as RecordOf<Table>;
    },
    inputShape: (tool) =>
      Object.fromEntries(
        Object.keys(table)
          .flatMap((name) => inputsOf[tool].find((field) => field.name === name) ?? [])
          .map(({ name, declared }) => [name, inputOf(declared, declared[tool])]),
      ) as never,
    outputShape: (names) => Object.fromEntries(names.map((name) => [name, table[name]?.type.output])) as never,
    select: (names) => {
      const chosen = names.flatMap((name) => fields.find((field) => field.name === name) ?? []);
      return {
        names,
        columns: chosen.map(({ column }) => column).join(', '),
        read: (row) => {
          const record: Record<string, unknown> = {};
          for (const { name, column, type } of chosen) record[name] = type.fromColumn(row[column] as SqlValue);
          return record as never;
        },
      };
    },
  };
}

function formOf({ type, initial, addedLater }: AnyField): Form {
  if (!addedLater) return type.form;
  const holds = (value: unknown) => value !== initial && type.form.holds(value);
  return optional({ ...type.form, says: `${type.form.says}, omitted when ${JSON.stringify(initial)}`, holds });
}

function inputOf({ type, clearable }: AnyField, setting: Setting | undefined): z.ZodType {
  // FieldTable allows a setting only with an InputType.
  const { input } = type as InputType;
  if (setting === 'required') return input;
  const accepted = (clearable ? input.nullable() : input).optional();
  return typeof setting === 'object' ? accepted.describe(setting.hint) : accepted;
}
