import { element, replaceContent } from '../dom.ts';
import { type LogRecord, RECORD_KINDS, type RecordKind } from '../model/records.ts';
import { VirtualList } from '../virtual-list.ts';

export const KIND_NAMES: Readonly<Record<RecordKind, string>> = {
  call: 'Calls',
  decision: 'Decisions',
  task: 'Tasks',
  session: 'Sessions',
  observed: 'Observed',
  commit: 'Commits',
  log: 'Log',
};

const NARROW = matchMedia('(max-width: 640px)');
const [ROW, NARROW_ROW] = [44, 72];
/** Browsers limit the height of an element to some million pixels. */
const MAX_ROWS = 200_000;
const SHORT = 300;

export interface Timeline {
  /** Shows the records of one task, or those that contain a text. */
  search(text: string): void;
  choose(record: LogRecord): void;
}

/** The records in the order of the log, with a choice of kinds and a search. */
export function renderTimeline(
  target: HTMLElement,
  records: readonly LogRecord[],
  onChoose: (record: LogRecord) => void,
): Timeline {
  const kinds = new Set<RecordKind>(RECORD_KINDS);
  const day = element('p', { class: 'day', 'aria-hidden': 'true' });
  const count = element('p', { class: 'note', role: 'status' });
  const list = new VirtualList<LogRecord>({
    label: 'Records in the order of the log',
    rowHeight: () => (NARROW.matches ? NARROW_ROW : ROW),
    render: renderRow,
    onChoose,
    onScroll: (first) => {
      day.textContent = first === undefined ? '' : first.entry.fields.at.slice(0, 10);
    },
  });
  let shown: readonly LogRecord[] = [];
  const input = element('input', {
    type: 'search',
    id: 'search',
    placeholder: 'T-0001, a name, a word',
    autocomplete: 'off',
  });
  const draw = () => {
    const found = records.filter((record) => kinds.has(record.kind) && contains(record, input.value));
    shown = found.slice(-MAX_ROWS);
    list.show(shown);
    count.textContent = countText(shown.length, found.length, records.length);
  };
  input.addEventListener('input', draw);
  const chips = RECORD_KINDS.map((kind) => chip(kind, records, kinds, draw));
  replaceContent(
    target,
    element(
      'div',
      { class: 'bar' },
      element('label', { for: 'search', class: 'search' }, element('span', {}, 'Search '), input),
      element('fieldset', { class: 'chips' }, element('legend', {}, 'Kinds of records'), ...chips),
    ),
    count,
    element('div', { class: 'list-frame' }, day, list.box),
  );
  draw();
  return {
    search: (text) => {
      input.value = text;
      draw();
    },
    choose: (record) => {
      if (!shown.includes(record)) {
        input.value = '';
        draw();
      }
      list.choose(shown.indexOf(record));
    },
  };
}

function chip(kind: RecordKind, records: readonly LogRecord[], kinds: Set<RecordKind>, draw: () => void): HTMLElement {
  const total = records.filter((record) => record.kind === kind).length;
  const box = element('input', { type: 'checkbox', checked: true, disabled: total === 0 });
  box.addEventListener('change', () => {
    if (box.checked) kinds.add(kind);
    else kinds.delete(kind);
    draw();
  });
  return element(
    'label',
    { class: `chip of-${kind}` },
    box,
    KIND_NAMES[kind],
    element('span', { class: 'count' }, total.toLocaleString('en')),
  );
}

function contains({ entry, title, text, taskId = '' }: LogRecord, words: string): boolean {
  const wanted = words.trim().toLowerCase();
  if (wanted === '') return true;
  if (/^t-\d{4,}$/.test(wanted)) return taskId.toLowerCase() === wanted;
  const { actor, kind } = entry.fields;
  return [title, text, taskId, actor, kind, `#${entry.index}`].some((part) => part.toLowerCase().includes(wanted));
}

function countText(shown: number, found: number, all: number): string {
  const number = (value: number) => value.toLocaleString('en');
  if (shown < found) return `The last ${number(shown)} of ${number(found)} records; search to see others.`;
  return found === all ? `${number(all)} records` : `${number(found)} of ${number(all)} records`;
}

function renderRow({ entry, kind, title, text, outcome }: LogRecord): readonly Node[] {
  const { at, actor } = entry.fields;
  return [
    element('span', { class: 'index' }, `#${entry.index}`),
    element('time', { datetime: at }, at.slice(11, 19)),
    element('span', { class: `kind of-${kind}` }, kind),
    element('span', { class: 'actor data' }, actor),
    element(
      'span',
      { class: 'what' },
      element('b', { class: 'data' }, title),
      ' ',
      element('span', { class: 'data' }, text.slice(0, SHORT)),
    ),
    outcome === undefined ? element('span', {}) : element('span', { class: `outcome is-${outcome[1]}` }, outcome[0]),
  ];
}
