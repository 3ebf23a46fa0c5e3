// Flattens a JSON Schema into a readable list of fields: `tags[]` is an item of tags, `db.path` a member of db.

export function listFields(schema, prefix = '') {
  const required = new Set(schema.required ?? []);
  const fields = [];
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    const path = prefix + name;
    fields.push({
      path,
      type: typeOf(member),
      isRequired: required.has(name),
      limits: limitsOf(member),
      fallback: 'default' in member ? code(member.default) : '',
      description: cell(member.description ?? ''),
    });
    fields.push(...listInner(member, path));
  }
  return fields;
}

function listInner(schema, path) {
  if (schema.anyOf) return schema.anyOf.flatMap((choice) => listInner(choice, path));
  if (schema.type === 'array') return schema.items === undefined ? [] : listInner(schema.items, `${path}[]`);
  return listFields(schema, `${path}.`);
}

function typeOf(schema) {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map(typeOf))].join(' or ');
  if ('const' in schema) return code(schema.const);
  if (schema.enum) return schema.enum.map(code).join(', ');
  if (schema.type === 'array') return `array of ${schema.items === undefined ? 'anything' : typeOf(schema.items)}`;
  if (schema.type === 'object' && isMap(schema)) return `object of ${typeOf(schema.additionalProperties)}`;
  return Array.isArray(schema.type) ? schema.type.join(' or ') : (schema.type ?? 'anything');
}

function isMap({ additionalProperties: values }) {
  return typeof values === 'object' && Object.keys(values).length > 0;
}

const LIMITS = [
  ['minLength', (value) => `at least ${value} characters`],
  ['maxLength', (value) => `at most ${value} characters`],
  ['minimum', (value) => `≥ ${value}`],
  ['exclusiveMinimum', (value) => `> ${value}`],
  ['maximum', (value) => `≤ ${value}`],
  ['exclusiveMaximum', (value) => `< ${value}`],
  ['multipleOf', (value) => `a multiple of ${value}`],
  ['minItems', (value) => `at least ${value} items`],
  ['maxItems', (value) => `at most ${value} items`],
  ['format', (value) => value],
  ['pattern', (value) => code(new RegExp(value, 'u'))],
];

function limitsOf(schema) {
  const own = LIMITS.filter(([keyword]) => keyword in schema).map(([keyword, say]) => say(schema[keyword]));
  const choices = (schema.anyOf ?? schema.oneOf ?? []).map(limitsOf).filter((limits) => limits !== '');
  const items = schema.items === undefined ? '' : limitsOf(schema.items);
  return [...own, ...choices, ...(items === '' ? [] : [`each ${items}`])].join('; ');
}

function code(value) {
  return `\`${cell(value instanceof RegExp ? value.source : JSON.stringify(value))}\``;
}

/** Escapes characters that would end a table cell or row. */
function cell(text) {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
