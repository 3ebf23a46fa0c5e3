/** Agents written for either of two older contracts call the same field by different names; both work, one is listed. */

export function acceptSpellings(raw: unknown): unknown {
  if (!isObject(raw)) return raw;
  return rename(rename(flattenPatch(raw), 'id', 'task_id'), 'project_id', 'project');
}

/** `{id, patch: {…}}` is `{task_id, …}`. A field named in both places stays where it is and is refused as unknown. */
function flattenPatch(raw: Record<string, unknown>): Record<string, unknown> {
  const { patch, ...rest } = raw;
  if (!isObject(patch)) return raw;
  return Object.keys(patch).some((key) => key in rest || isIdentity(key)) ? raw : { ...rest, ...patch };
}

function rename(raw: Record<string, unknown>, from: string, to: string): Record<string, unknown> {
  if (!(from in raw) || to in raw) return raw;
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
