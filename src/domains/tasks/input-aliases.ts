/** Agents written for either of two older contracts call the same field by different names; both work, one is listed. */

/** For tools that are told which task is meant. */
export function acceptTaskSpellings(raw: unknown): unknown {
  return isObject(raw) ? rename(raw, 'id', 'task_id') : raw;
}

/** For tools that are told which project is meant. */
export function acceptProjectSpellings(raw: unknown): unknown {
  return isObject(raw) ? rename(raw, 'project_id', 'project') : raw;
}

/** `{id, patch: {…}}` is `{task_id, …}`. A field named in both places stays where it is and is refused as unknown. */
export function acceptPatch(raw: unknown): unknown {
  return acceptTaskSpellings(isObject(raw) ? flattenPatch(raw) : raw);
}

function flattenPatch(raw: Record<string, unknown>): Record<string, unknown> {
  const { patch, ...rest } = raw;
  if (!isObject(patch)) return raw;
  return Object.keys(patch).some((key) => Object.hasOwn(rest, key) || isIdentity(key)) ? raw : { ...rest, ...patch };
}

function rename(raw: Record<string, unknown>, from: string, to: string): Record<string, unknown> {
  if (!Object.hasOwn(raw, from) || Object.hasOwn(raw, to)) return raw;
  const { [from]: value, ...rest } = raw;
  return { ...rest, [to]: value };
}

/** Which task is meant is said outside of the patch. */
function isIdentity(key: string): boolean {
  return key === 'id' || key === 'task_id';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
