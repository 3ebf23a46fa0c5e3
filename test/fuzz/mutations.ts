import * as fc from 'fast-check';
import { canonicalize, type Json } from '../../src/integrity/index.ts';
import { TOKENS, VALUES } from './hostile-values.ts';

/** One change of a text. Positions are fractions, so that one change fits every sample and shrinks toward the start. */
type Change = (text: string, samples: readonly string[]) => string;

const fraction = fc.integer({ min: 0, max: 9999 });
const place = (text: string, at: number) => Math.floor((at / 10_000) * (text.length + 1));

function rangeOf(text: string, at: number, length: number): readonly [begin: number, end: number] {
  const begin = place(text, at);
  return [begin, Math.min(text.length, begin + length)];
}

/** Lengths of ranges: mostly short. */
const length = fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 1, max: 8 }) }, fc.integer({ min: 9, max: 3000 }));
/** Bounds the inputs, and so the time of a parser that is linear. */
const MAX_LENGTH = 60_000;

const textChanges: readonly fc.Arbitrary<Change>[] = [
  fc.tuple(fraction, length).map(
    ([at, count]): Change =>
      (text) => {
        const [begin, end] = rangeOf(text, at, count);
        return text.slice(0, begin) + text.slice(end);
      },
  ),
  fc.tuple(fraction, fc.constantFrom(...TOKENS), fc.integer({ min: 0, max: 4 })).map(
    ([at, token, over]): Change =>
      (text) => {
        const [begin, end] = rangeOf(text, at, over);
        return text.slice(0, begin) + token + text.slice(end);
      },
  ),
  fc.tuple(fraction, fc.integer({ min: 0, max: 15 })).map(
    ([at, bit]): Change =>
      (text) => {
        const [begin] = rangeOf(text, at, 1);
        const flipped = String.fromCharCode((text.charCodeAt(begin) || 0) ^ (1 << bit));
        return text.slice(0, begin) + flipped + text.slice(begin + 1);
      },
  ),
  fc.tuple(fraction, length, fc.constantFrom(1, 2, 70, 2000)).map(
    ([at, count, times]): Change =>
      (text) => {
        const [begin, end] = rangeOf(text, at, count);
        return text.slice(0, end) + text.slice(begin, end).repeat(times) + text.slice(end);
      },
  ),
  fraction.map(
    (at): Change =>
      (text) =>
        text.slice(0, place(text, at)),
  ),
  fc.tuple(fraction, fraction, fraction).map(
    ([which, from, to]): Change =>
      (text, samples) => {
        const other = samples[which % samples.length] ?? '';
        return text.slice(0, place(text, from)) + other.slice(place(other, to));
      },
  ),
  fc.tuple(fraction, fraction, fc.constantFrom('delete', 'copy', 'swap')).map(
    ([one, other, what]): Change =>
      (text) => {
        const lines = text.split('\n');
        const [from, to] = [one % lines.length, other % lines.length];
        const [line, second] = [lines[from] ?? '', lines[to] ?? ''];
        if (what === 'delete') lines.splice(from, 1);
        else if (what === 'copy') lines.splice(to, 0, line);
        else [lines[from], lines[to]] = [second, line];
        return lines.join('\n');
      },
  ),
  fc.tuple(fraction, fc.constantFrom('0', '-1', '1.5', '1e3', '007', '9007199254740991', '9007199254740993')).map(
    ([which, number]): Change =>
      (text) => {
        const found = [...text.matchAll(/\d+/g)];
        const chosen = found[which % Math.max(found.length, 1)];
        if (chosen === undefined) return text;
        return text.slice(0, chosen.index) + number + text.slice(chosen.index + chosen[0].length);
      },
  ),
];

/** Changes a node of the JSON in a line and serializes the line again, so the result is valid JSON. */
const treeChange: fc.Arbitrary<Change> = fc
  .tuple(fraction, fraction, fc.constantFrom(...VALUES), fc.constantFrom('replace', 'remove', 'rename', 'copy', 'wrap'))
  .map(
    ([line, node, value, what]): Change =>
      (text) => {
        const lines = text.split('\n');
        const at = line % lines.length;
        const root = parseOrUndefined(lines[at] ?? '');
        if (typeof root !== 'object' || root === null) return text;
        const changed = changeNode(root as Json, node, what, value);
        lines[at] = writeJson(changed);
        return lines.join('\n');
      },
  );

type What = 'replace' | 'remove' | 'rename' | 'copy' | 'wrap';

interface Node {
  readonly parent: Record<string, Json> | Json[];
  readonly key: string | number;
}

function changeNode(root: Json, which: number, what: What, value: Json): Json {
  const holder = [structuredClone(root)] as [Json];
  const nodes = listNodes(holder, []);
  const { parent, key } = nodes[which % nodes.length] as Node;
  const members = parent as Record<string | number, Json>;
  const own = members[key] as Json;
  if (what === 'replace') setMember(members, key, value);
  else if (what === 'wrap') setMember(members, key, [own]);
  else if (what === 'copy') setMember(members, Array.isArray(parent) ? parent.length : `${key}x`, own);
  else if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else {
    delete parent[key];
    if (what === 'rename') setMember(members, JSON.stringify(value).slice(0, 300), own);
  }
  return holder[0];
}

function setMember(members: Record<string | number, Json>, key: string | number, value: Json): void {
  Object.defineProperty(members, key, { value, configurable: true, enumerable: true, writable: true });
}

function listNodes(value: Json, nodes: Node[]): Node[] {
  if (typeof value !== 'object' || value === null) return nodes;
  const parent = value as Record<string, Json> | Json[];
  for (const [key, member] of Object.entries(parent)) {
    nodes.push({ parent, key: Array.isArray(parent) ? Number(key) : key });
    listNodes(member, nodes);
  }
  return nodes;
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Canonically if possible, so that a strict parser reads on. */
function writeJson(value: Json): string {
  try {
    return canonicalize(value);
  } catch {
    return JSON.stringify(value);
  }
}

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: textChanges.length, arbitrary: treeChange },
  ...textChanges.map((arbitrary) => ({ weight: 1, arbitrary })),
);

export interface Mutated {
  readonly sample: string;
  readonly input: string;
}

/** Any UTF-16 unit, also half of a pair. */
const anyUnit = fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit));

/** Samples with one to four changes, and some texts that are not one. */
export function mutated(samples: readonly string[]): fc.Arbitrary<Mutated> {
  const changed = fc
    .tuple(fc.constantFrom(...samples), fc.array(change, { minLength: 1, maxLength: 4 }))
    .map(([sample, changes]) => ({
      sample,
      input: changes.reduce((text, apply) => apply(text, samples).slice(0, MAX_LENGTH), sample),
    }));
  const other = fc.oneof(
    fc.constantFrom(...VALUES.map(writeJson)),
    fc.string({ unit: anyUnit }),
    fc.string({ unit: fc.constantFrom(...TOKENS), maxLength: 60 }),
  );
  const random = fc.tuple(fc.constantFrom(...samples), other).map(([sample, input]) => ({ sample, input }));
  return fc.oneof({ weight: 15, arbitrary: changed }, { weight: 1, arbitrary: random });
}
