export interface Forgery {
  readonly name: string;
  /** Which file is changed, and how. */
  readonly bundle: 'ledger' | 'task' | 'proof';
  readonly change: (text: string) => string;
  /** The exit code of `colibri verify`. */
  readonly status: 1 | 3;
}

type Row = readonly [name: string, bundle: Forgery['bundle'], change: Forgery['change'], status: Forgery['status']];

const ROWS: readonly Row[] = [
  ['another actor', 'ledger', (text) => text.replace('\\"actor\\":\\"alice\\"', '\\"actor\\":\\"eve\\"'), 1],
  ['another title', 'ledger', (text) => text.replace('the secret title', 'the public title'), 1],
  ['another thought', 'task', (text) => text.replaceAll('because', 'although'), 1],
  ['another salt', 'task', (text) => text.replace(/(?<="salt":")./, (digit) => (digit === 'f' ? '0' : 'f')), 1],
  ['an entry less', 'ledger', (text) => withoutLine(text, 3), 3],
  ['an entry less, and the count adjusted', 'ledger', (text) => recount(withoutLine(text, 3)), 3],
  ['two entries that changed places', 'ledger', (text) => swapLines(text, 3, 4), 3],
  ['two entries that changed places and indexes', 'ledger', (text) => swapEntries(text, 3, 4), 1],
  ['a hash less', 'task', (text) => recount(withoutLine(text, text.split('\n').length - 2), 'hash_count'), 3],
  ['a hash of zeros', 'task', (text) => text.replace(/"[0-9a-f]{64}"\n$/, `"${'0'.repeat(64)}"\n`), 1],
  [
    'a larger size in the checkpoint',
    'ledger',
    (text) => text.replace(/\\n(\d+)\\n/, (_, size: string) => `\\n${Number(size) + 1}\\n`),
    3,
  ],
  ['another format', 'ledger', (text) => text.replace('colibri-bundle/v1', 'colibri-bundle/v2'), 3],
  ['an unknown field', 'ledger', (text) => text.replace('"format"', '"extra":1,"format"'), 3],
  ['a key twice', 'ledger', (text) => text.replace('"redacted":false', '"redacted":false,"redacted":true'), 3],
  ['white space', 'ledger', (text) => text.replace('"index":3', '"index": 3'), 3],
  ['no last line feed', 'ledger', (text) => text.slice(0, -1), 3],
  ['a byte order mark', 'ledger', (text) => `\uFEFF${text}`, 3],
  ['an unknown scope', 'ledger', (text) => text.replace('{"kind":"ledger"}', '{"kind":"universe"}'), 3],
  ['the proof of another index', 'proof', (text) => text.replace('index 3', 'index 4'), 3],
  ['another hash in the proof', 'proof', (text) => text.replace(/\n[A-Za-z0-9+/]{43}=\n/, `\n${'A'.repeat(43)}=\n`), 1],
];

export const FORGERIES: readonly Forgery[] = ROWS.map(([name, bundle, change, status]) => ({
  name,
  bundle,
  change,
  status,
}));

function withoutLine(text: string, line: number): string {
  return text
    .split('\n')
    .filter((_, place) => place !== line)
    .join('\n');
}

function recount(text: string, field = 'entry_count'): string {
  return text.replace(new RegExp(`"${field}":(\\d+)`), (_, count: string) => `"${field}":${Number(count) - 1}`);
}

function swapLines(text: string, one: number, other: number): string {
  const lines = text.split('\n');
  [lines[one], lines[other]] = [lines[other] ?? '', lines[one] ?? ''];
  return lines.join('\n');
}

/** Swaps two entries and leaves the indexes where they are. */
function swapEntries(text: string, one: number, other: number): string {
  const indexOf = (line: string) => /"index":\d+/.exec(line)?.[0] ?? '';
  const lines = text.split('\n');
  const [first, second] = [lines[one] ?? '', lines[other] ?? ''];
  lines[one] = second.replace(indexOf(second), indexOf(first));
  lines[other] = first.replace(indexOf(first), indexOf(second));
  return lines.join('\n');
}
