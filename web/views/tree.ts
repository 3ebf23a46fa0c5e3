import { button, type Child, drawing, element, replaceContent, shortHash } from '../dom.ts';
import { type PathStep, pathTo, type TreeNode } from '../model/tree.ts';

export interface TreeOptions {
  readonly root: TreeNode;
  /** The indexes that the file has, rising. */
  readonly indexes: readonly number[];
  readonly index: number;
  readonly signedRoot: string;
  readonly titleOf: (index: number) => string;
  readonly onChoose: (index: number) => void;
}

/** The path of one entry to the root: at every level the node on the path and the sibling whose hash proves it. */
export function renderTree(target: HTMLElement, options: TreeOptions): void {
  const { root, index, signedRoot, titleOf } = options;
  const steps = pathTo(root, index);
  const holds = root.hash === signedRoot;
  const focused = target.contains(document.activeElement) ? (document.activeElement?.id ?? '') : undefined;
  replaceContent(
    target,
    controls(options),
    element(
      'p',
      { class: 'note', role: 'status' },
      `Entry ${index}, `,
      element('span', { class: 'data' }, titleOf(index)),
      `: proved by ${steps.length === 1 ? '1 hash' : `${steps.length} hashes`}. `,
      holds ? 'Hashed upwards, they give the signed root.' : 'They do not give the signed root.',
    ),
    overview(root, steps),
    element(
      'ol',
      { class: 'path', 'aria-label': `Path from the root to entry ${index}` },
      rootLevel(root, holds),
      ...steps.map((step, place) => level(step, steps[place - 1]?.side, options)),
    ),
    element(
      'p',
      { class: 'help' },
      'A leaf is SHA-256 of a zero byte and the entry; a node is SHA-256 of a one byte, its left and its right child (RFC 6962).',
    ),
  );
  if (focused !== undefined) keepFocus(focused);
}

/** The controls are drawn again with every entry; a reader who uses the keyboard stays where they were. */
function keepFocus(id: string): void {
  const same = id === '' ? null : document.getElementById(id);
  const isUsable = same !== null && !(same instanceof HTMLButtonElement && same.disabled);
  (isUsable ? same : document.getElementById(ENTRY_FIELD))?.focus();
}

export const ENTRY_FIELD = 'entry';

function controls({ indexes, index, root, onChoose }: TreeOptions): HTMLElement {
  const place = indexes.indexOf(index);
  const step = (id: string, to: number, label: string) => {
    const next = indexes[to];
    return button(label, () => next !== undefined && onChoose(next), { id, disabled: next === undefined });
  };
  const attributes = { id: ENTRY_FIELD, inputmode: 'numeric', value: index, size: 8, autocomplete: 'off' };
  const input = element('input', attributes);
  input.addEventListener('change', () => onChoose(nearest(indexes, Number(input.value.replace('#', '')))));
  return element(
    'div',
    { class: 'bar', role: 'group', 'aria-label': 'Choose an entry' },
    element('label', { for: ENTRY_FIELD }, 'Entry '),
    input,
    element('span', { class: 'help' }, `of ${root.end.toLocaleString('en')}`),
    step('entry-before', place - 1, '← Before'),
    step('entry-after', place + 1, 'After →'),
  );
}

function nearest(indexes: readonly number[], wanted: number): number {
  return indexes.find((index) => index >= wanted) ?? indexes.at(-1) ?? 0;
}

const [WIDTH, HEIGHT, GAP] = [1000, 110, 3];

/** The log from left to right at every level of the path. What is not on the path is given by one hash. */
function overview(root: TreeNode, steps: readonly PathStep[]): SVGElement {
  const scale = WIDTH / root.end;
  const bandHeight = Math.min(10, HEIGHT / (steps.length + 1) - GAP);
  const height = (steps.length + 1) * (bandHeight + GAP);
  const band = ({ begin, end }: TreeNode, row: number, name: string) =>
    drawing('rect', {
      class: name,
      x: begin * scale,
      y: row * (bandHeight + GAP),
      width: Math.max(2, (end - begin) * scale - 1),
      height: bandHeight,
      rx: 2,
    });
  return drawing(
    'svg',
    {
      class: 'overview',
      viewBox: `0 0 ${WIDTH} ${height}`,
      height,
      preserveAspectRatio: 'none',
      'aria-hidden': 'true',
    },
    band(root, 0, 'on-path'),
    ...steps.flatMap(({ node, sibling }, place) => [
      band(sibling, place + 1, 'off-path'),
      band(node, place + 1, 'on-path'),
    ]),
  );
}

function level(step: PathStep, above: 'left' | 'right' | undefined, options: TreeOptions): HTMLElement {
  const { node, sibling, side } = step;
  const own = nodeBox(node, 'node', 'is-path', []);
  const other = nodeBox(sibling, 'node', 'is-sibling', siblingParts(sibling, options));
  return element(
    'li',
    { class: 'level' },
    edges(above, side),
    element('div', { class: 'pair' }, ...(side === 'left' ? [own, other] : [other, own])),
  );
}

function rootLevel(root: TreeNode, holds: boolean): HTMLElement {
  const [word, name] = holds ? ['signed root', 'is-good'] : ['not the signed root', 'is-bad'];
  const box = nodeBox(root, 'root', 'is-path', [element('span', { class: `outcome ${name}` }, word)]);
  return element('li', { class: 'level' }, element('div', { class: 'pair is-root' }, box));
}

/** What a sibling stands for: entries of the file, or a hash of the proof. */
function siblingParts({ begin, end }: TreeNode, { indexes, onChoose }: TreeOptions): Child[] {
  const first = indexes.find((index) => index >= begin && index < end);
  if (first === undefined) return [element('span', { class: 'help' }, 'only its hash is in the file')];
  return [button(`Go to entry ${first}`, () => onChoose(first), { class: 'quiet' })];
}

function nodeBox(node: TreeNode, role: 'root' | 'node', name: string, more: readonly Child[]): HTMLElement {
  const { begin, end, hash } = node;
  const range = end - begin === 1 ? `entry ${begin}` : `entries ${begin}–${end - 1}`;
  return element(
    'div',
    { class: `node ${name}` },
    element('span', { class: 'visually-hidden' }, name === 'is-path' ? 'On the path: ' : 'Sibling: '),
    element('span', { class: 'range' }, role === 'root' ? `root · ${range}` : range),
    shortHash(hash),
    ...more,
  );
}

/** Lines from the parent, which stands left, right or in the middle, to both children. */
function edges(above: 'left' | 'right' | undefined, side: 'left' | 'right'): SVGElement {
  const from = above === undefined ? 50 : above === 'left' ? 25 : 75;
  const line = (to: number, name: string) =>
    drawing('path', {
      class: name,
      d: `M${from} 0 C${from} 12 ${to} 8 ${to} 20`,
      'vector-effect': 'non-scaling-stroke',
    });
  const [own, other] = side === 'left' ? [25, 75] : [75, 25];
  return drawing(
    'svg',
    { class: 'edges', viewBox: '0 0 100 20', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    line(other, 'off-path'),
    line(own, 'on-path'),
  );
}
