/** Formats JSON as people write configuration: arrays on one line, objects on several if `unit` is the indentation. */
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
