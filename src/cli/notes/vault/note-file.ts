import { joinMarkdown, type Markdown, yamlText } from './markdown.ts';

/** A note as this program writes it, without what a person added. */
export interface Note {
  /** Relative to the vault, with slashes. */
  readonly path: string;
  readonly properties: Properties;
  /** Blocks, separated by blank lines. */
  readonly body: readonly Markdown[];
}

/** In the order of the front matter. Undefined and empty lists are left out. */
export type Properties = Readonly<Partial<Record<PropertyName, PropertyValue>>>;
type PropertyValue = string | number | boolean | Markdown | readonly (string | Markdown)[] | null | undefined;

/** Every property that a note has or had; all others belong to the person. */
const PROPERTY_NAMES = [
  'colibri',
  'note',
  'id',
  'title',
  'aliases',
  'gone',
  'project',
  'status',
  'priority',
  'progress',
  'assignee',
  'holder',
  'blocked_reason',
  'labels',
  'parent',
  'depends_on',
  'estimate_hours',
  'workflow',
  'attempt',
  'task',
  'scope',
  'auditor',
  'sealed',
  'records',
  'root',
  'first_seen',
  'last_change',
  'changes',
  'decisions',
  'date',
  'created',
  'created_by',
  'updated',
  'updated_by',
] as const;

type PropertyName = (typeof PROPERTY_NAMES)[number];

/** The line that separates what is replaced from what a person wrote. No data can imitate it: "<" is always escaped. */
export const LINE = '<!-- colibri: write below this line; everything above it is replaced -->';

/** What a person added to a note. */
export interface Additions {
  /** Lines of the front matter. */
  readonly properties: readonly string[];
  /** The text below the line, to the byte. */
  readonly below: string;
}

const NOTHING: Additions = { properties: [], below: '' };

/** The ledger is named in the front matter, so that the note is recognized as one of this program. */
export function renderNote(note: Note, ledgerId: string, { properties, below }: Additions = NOTHING): string {
  const own = PROPERTY_NAMES.flatMap((name) => {
    const value = name === 'colibri' ? ledgerId : note.properties[name];
    return value === undefined || value === null ? [] : propertyLines(name, value);
  });
  const { markdown } = joinMarkdown(note.body, '\n\n');
  return `---\n${[...own, ...properties].join('\n')}\n---\n\n${markdown}\n\n## Notes\n\n${LINE}\n${below}`;
}

export type ParsedNote =
  | { readonly kind: 'own'; readonly additions: Additions }
  | { readonly kind: 'foreign'; readonly reason: string };

const FRONT_MATTER = /^\ufeff?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)/s;

/**
 * Finds what a person added to a note of this ledger. A note of another origin is foreign, and so is one without the
 * line.
 */
export function parseNote(text: string, ledgerId: string): ParsedNote {
  const matter = FRONT_MATTER.exec(text)?.[1];
  if (matter === undefined) return { kind: 'foreign', reason: 'is not from Colibri' };
  const blocks = splitProperties(matter);
  const ledger = blocks.find(({ name }) => name === 'colibri')?.lines[0]?.replace(/^colibri:|["'\s]/g, '');
  if (ledger === undefined) return { kind: 'foreign', reason: 'is not from Colibri' };
  if (ledger !== ledgerId) return { kind: 'foreign', reason: 'belongs to another ledger' };
  const end = findLine(text);
  if (end === undefined)
    return { kind: 'foreign', reason: `has lost the line "${LINE}", so what was added to it cannot be told apart` };
  const names: readonly string[] = PROPERTY_NAMES;
  const properties = blocks.filter(({ name }) => !names.includes(name)).flatMap(({ lines }) => lines);
  return { kind: 'own', additions: { properties, below: text.slice(end) } };
}

/** The position after the first such line: a person may have copied it. */
function findLine(text: string): number | undefined {
  const match = new RegExp(`^${LINE}[ \\t]*(?:\\r?\\n|$)`, 'm').exec(text);
  return match === null ? undefined : match.index + match[0].length;
}

interface PropertyBlock {
  readonly name: string;
  readonly lines: readonly string[];
}

/** A property and the lines that belong to it: lists and texts of several lines. */
function splitProperties(matter: string): PropertyBlock[] {
  const blocks: { name: string; lines: string[] }[] = [];
  for (const line of matter.split(/\r?\n/)) {
    const name = /^([^\s#:-][^:]*):(?:\s|$)/.exec(line)?.[1]?.trim();
    const last = blocks.at(-1);
    if (name !== undefined) blocks.push({ name: name.replaceAll(/^["']|["']$/g, ''), lines: [line] });
    else if (last !== undefined) last.lines.push(line);
    else blocks.push({ name: '', lines: [line] });
  }
  return blocks;
}

function propertyLines(name: string, value: NonNullable<PropertyValue>): string[] {
  if (!isList(value)) return [`${name}: ${scalar(value)}`];
  return value.length === 0 ? [] : [`${name}:`, ...value.map((item) => `  - ${scalar(item)}`)];
}

function isList(value: NonNullable<PropertyValue>): value is readonly (string | Markdown)[] {
  return Array.isArray(value);
}

function scalar(value: string | number | boolean | Markdown): string {
  if (typeof value === 'string') return yamlText(value);
  return typeof value === 'object' ? JSON.stringify(value.markdown) : String(value);
}
