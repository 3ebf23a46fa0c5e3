import type { BundledEvidence } from '../../src/integrity/evidence/in-bundle.ts';
import { leafHash } from '../../src/integrity/index.ts';
import { button, type Child, element, facts, prose, replaceContent } from '../dom.ts';
import { type BundleEntry, contentOf, type LogRecord } from '../model/records.ts';
import { copyButton } from './copy.ts';
import { evidenceParts } from './evidence.ts';

const HIDDEN_FIELDS = new Set(['v', 'kind', 'at', 'actor']);

export interface DetailOptions {
  /** What the record says about tests and commits. */
  readonly evidence: readonly BundledEvidence[];
  readonly onShowInTree: (index: number) => void;
}

/** Everything about one record: what it says, what was disclosed, and the entry as it is hashed. */
export function renderDetail(target: HTMLElement, record: LogRecord, { evidence, onShowInTree }: DetailOptions): void {
  const { entry, exit, title } = record;
  replaceContent(
    target,
    element('h2', { tabindex: -1, id: 'detail-title' }, element('span', { class: 'data' }, title)),
    element(
      'p',
      { class: 'help' },
      `Entry ${entry.index}${exit === undefined ? '' : ` and its end, entry ${exit.index}`}`,
    ),
    thoughtOf(entry),
    ...evidenceParts(evidence),
    ...contentParts(entry),
    ...entryParts(entry, 'The entry', onShowInTree),
    ...(exit === undefined ? [] : entryParts(exit, 'The end of the call', onShowInTree)),
  );
}

function thoughtOf({ disclosed }: BundleEntry): Child {
  return disclosed?.thought === undefined ? undefined : prose(disclosed.thought.content, { class: 'prose' });
}

function contentParts(entry: BundleEntry): Child[] {
  const { disclosed } = entry;
  if (disclosed === undefined) return [];
  const content = contentOf(entry);
  const pairs = Object.entries(content ?? {}).filter(([, value]) => value !== null && value !== '');
  if (content !== undefined && pairs.length === 0) return [];
  return [
    element('h3', {}, 'Disclosed content'),
    content === undefined
      ? prose(disclosed.text)
      : facts(pairs.map(([name, value]) => [name, prose(typeof value === 'string' ? value : JSON.stringify(value))])),
  ];
}

function entryParts(entry: BundleEntry, title: string, onShowInTree: (index: number) => void): Child[] {
  const { fields, index } = entry;
  const others = Object.entries(fields).filter(([name]) => !HIDDEN_FIELDS.has(name));
  return [
    element('h3', {}, title),
    facts([
      ['kind', element('code', {}, fields.kind)],
      ['at', element('time', { datetime: fields.at }, fields.at)],
      ['actor', element('span', { class: 'data' }, fields.actor)],
      ...others.map(([name, value]) => [name, fieldValue(value)] as const),
      ['leaf hash', element('code', { class: 'whole' }, leafHash(entry.entry))],
    ]),
    element(
      'p',
      { class: 'actions' },
      button(`Path of entry ${index} in the tree`, () => onShowInTree(index), { class: 'quiet' }),
      copyButton(() => entry.entry, 'Copy the entry'),
    ),
  ];
}

function fieldValue(value: unknown): HTMLElement {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return element('code', { class: 'whole' }, text.slice(0, 2000));
}
