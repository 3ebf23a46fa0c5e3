import { visibleText } from './visible-text.ts';

export type Child = Node | string | undefined;

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * Builds an element. Text becomes text nodes, never markup, and every character that is invisible or reorders text is
 * shown as an escape: the ledger is not trusted.
 */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  return fill(document.createElement(tag), attributes, children);
}

export function drawing<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Tag] {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function fill<Kind extends Element>(target: Kind, attributes: Attributes, children: readonly Child[]): Kind {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    target.setAttribute(name, value === true ? '' : visibleText(String(value)));
  }
  target.append(...nodesOf(children));
  return target;
}

export function replaceContent(target: Element, ...children: readonly Child[]): void {
  target.replaceChildren(...nodesOf(children));
}

function nodesOf(children: readonly Child[]): (Node | string)[] {
  return children
    .filter((child) => child !== undefined)
    .map((child) => (typeof child === 'string' ? visibleText(child) : child));
}

export function button(label: string, onClick: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, label);
  made.addEventListener('click', onClick);
  return made;
}

/** An element of the static page. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found;
}

const LONG_TEXT = 20_000;

/** A text with its line breaks. A long one is cut, and shown whole on request. */
export function prose(text: string, attributes: Attributes = {}): HTMLElement {
  const box = element('div', { ...attributes, class: 'prose' });
  if (text.length <= LONG_TEXT) {
    replaceContent(box, text);
    return box;
  }
  const all = button(`Show all ${text.length.toLocaleString('en')} characters`, () => replaceContent(box, text), {
    class: 'quiet',
  });
  replaceContent(box, text.slice(0, LONG_TEXT), '… ', all);
  return box;
}

/** Two columns of names and values. */
export function facts(pairs: readonly (readonly [name: string, value: Child])[]): HTMLElement {
  const list = element('dl', { class: 'facts' });
  for (const [name, value] of pairs)
    if (value !== undefined) list.append(element('dt', {}, name), element('dd', {}, value));
  return list;
}

/** A hash in short, whole for assistive technology and on hover. */
export function shortHash(hash: string): HTMLElement {
  return element('code', { class: 'hash', title: hash }, `${hash.slice(0, 10)}…`);
}
