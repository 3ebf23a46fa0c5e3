/** JSON as people write configuration: an object over several lines if there is a unit to indent by, an array in one. */
export function formatJson(value: unknown, unit?: string, indent = ''): string {
  if (Array.isArray(value)) return `[${value.map((item) => formatJson(item)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = unit === undefined ? ' ' : `\n${indent}${unit}`;
  const outer = unit === undefined ? ' ' : `\n${indent}`;
  const properties = Object.entries(value).map(
    ([key, item]) => `${inner}${JSON.stringify(key)}: ${formatJson(item, unit, `${indent}${unit ?? ''}`)}`,
  );
  return `{${properties.join(',')}${outer}}`;
}
