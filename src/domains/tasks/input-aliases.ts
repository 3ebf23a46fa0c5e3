import type * as z from 'zod';
import { TASK_FIELDS } from './fields/table.ts';

/** Other names for an input, accepted by every task tool that lists the second; agents of older contracts send them. */
export const ALIASES: Readonly<Record<string, string>> = {
  id: 'task_id',
  project_id: 'project',
};

/** Renames aliases of the fields that a schema lists. An alias beside its field stays, and is refused as unknown. */
export function acceptAliases(schema: z.ZodObject): (raw: unknown) => unknown {
  const known = Object.entries(ALIASES).filter(([, name]) => Object.hasOwn(schema.shape, name));
  return (raw) => (isObject(raw) ? known.reduce(rename, raw) : raw);
}

/** Also takes null in an optional field for an absent field. */
export function acceptNulls(schema: z.ZodObject): (raw: unknown) => unknown {
  const accept = acceptAliases(schema);
  const isOptional = (name: string) =>
    Object.hasOwn(schema.shape, name) && schema.shape[name]?.safeParse(undefined).success === true;
  return (raw) => {
    const input = accept(raw);
    if (!isObject(input) || !Object.values(input).includes(null)) return input;
    return Object.fromEntries(Object.entries(input).filter(([name, value]) => value !== null || !isOptional(name)));
  };
}

/**
 * `{id, patch: {…}}` is `{task_id, …}`. A patch that names the task, or a field given beside it, is refused as unknown.
 * A priority of null is the one that a task has without it.
 */
export function acceptPatch(schema: z.ZodObject): (raw: unknown) => unknown {
  const accept = acceptAliases(schema);
  return (raw) => accept(isObject(raw) ? resetPriority(flattenPatch(raw)) : raw);
}

/** Why an alias of the schema was not renamed, for `explainUnknown`. */
export function explainAliases(schema: z.ZodObject): (key: string) => string | undefined {
  return (key) => {
    const name = Object.hasOwn(ALIASES, key) ? ALIASES[key] : undefined;
    if (name === undefined || !Object.hasOwn(schema.shape, name)) return undefined;
    return `is an alias of ${name} (send one of them)`;
  };
}

/** Also explains a patch that was not taken apart. */
export function explainPatch(schema: z.ZodObject): (key: string, raw: unknown) => string | undefined {
  const explain = explainAliases(schema);
  return (key, raw) => (key === 'patch' && isObject(raw) ? describePatch(schema, raw) : explain(key));
}

function describePatch({ shape }: z.ZodObject, { patch, ...rest }: RawObject): string {
  if (!isObject(patch)) return 'must be an object with the fields to change (or send these fields beside task_id)';
  if (['id', 'task_id'].some((key) => Object.hasOwn(patch, key)))
    return 'must not name the task (send task_id beside it)';
  const repeated = Object.keys(shape).find((key) => Object.hasOwn(patch, key) && Object.hasOwn(rest, key));
  return `repeats ${repeated ?? 'a field'} (send each field once)`;
}

/** `status` may be one state; `include_deleted` has no effect, because nothing is ever deleted. */
export function acceptListForms(schema: z.ZodObject): (raw: unknown) => unknown {
  const accept = acceptNulls(schema);
  return (raw) => (isObject(raw) ? accept(wrapStatus(dropIncludeDeleted(raw))) : raw);
}

type RawObject = Readonly<Record<string, unknown>>;

function rename(raw: RawObject, [alias, name]: readonly [string, string]): RawObject {
  if (!Object.hasOwn(raw, alias) || Object.hasOwn(raw, name)) return raw;
  const { [alias]: value, ...rest } = raw;
  return { ...rest, [name]: value };
}

function flattenPatch(raw: RawObject): RawObject {
  const { patch, ...rest } = raw;
  if (!isObject(patch)) return raw;
  const isAmbiguous = Object.keys(patch).some((key) => Object.hasOwn(rest, key) || key === 'id' || key === 'task_id');
  return isAmbiguous ? raw : { ...rest, ...patch };
}

function resetPriority(raw: RawObject): RawObject {
  return raw['priority'] === null ? { ...raw, priority: TASK_FIELDS.priority.initial } : raw;
}

function wrapStatus(raw: RawObject): RawObject {
  return typeof raw['status'] === 'string' ? { ...raw, status: [raw['status']] } : raw;
}

function dropIncludeDeleted(raw: RawObject): RawObject {
  const { include_deleted, ...rest } = raw;
  return typeof include_deleted === 'boolean' ? rest : raw;
}

function isObject(value: unknown): value is RawObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
