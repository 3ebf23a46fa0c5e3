import { createHash } from 'node:crypto';

/** A chain as it lies in a store: each thought's row, and the entry of the log that the row points at. */
export interface ChainVector {
  readonly name: string;
  /** The layers that do not hold, in the order of the chain; none for an honest chain. */
  readonly broken: readonly string[];
  readonly thoughts: readonly { readonly row: VectorRow; readonly entry: string }[];
}

export interface VectorRow {
  readonly thought_no: number;
  readonly idx: number;
  readonly task_no: number;
  readonly chain_position: number;
  readonly attempt: number;
  readonly session_no: number;
  readonly session_seq: number;
  readonly type: string;
  readonly content: string;
  readonly recorded_at: string;
  readonly recorded_by: string;
  readonly previous_hash: string | null;
  readonly hash: string;
  readonly extras: string;
  readonly salt: string;
}

/** Made without the product's own code: the formulas are written out here a second time. */
export function createChainVectors(): ChainVector[] {
  const second = (change: Partial<VectorRow>) => alter(1, change);
  const chained = (hashed: (row: VectorRow) => string) =>
    honestChain(hashed).map((row) => ({ row, entry: entryOf(row) }));
  const vector = (name: string, broken: readonly string[], thoughts: ChainVector['thoughts']) => ({
    name,
    broken,
    thoughts,
  });
  return [
    vector('honest', [], honest()),
    vector('honest, of one thought', [], honest().slice(0, 1)),
    vector('content changed', ['hash'], second({ content: 'Use the lax parser.' })),
    vector('content in another normal form', ['hash'], second({ content: 'Cafe\u0301.' })),
    vector('a space more', ['hash'], second({ content: 'Caf\u00e9. ' })),
    vector('type changed', ['hash'], second({ type: 'risk' })),
    vector('time changed', ['hash', 'entry'], second({ recorded_at: '2026-04-08T22:01:00.001Z' })),
    vector('time without milliseconds', ['hash', 'entry'], second({ recorded_at: '2026-04-08T22:01:00Z' })),
    vector('author changed', ['hash', 'entry'], second({ recorded_by: 'mallory' })),
    vector('task changed', ['hash', 'entry'], second({ task_no: 2 })),
    vector('link changed', ['hash', 'link'], second({ previous_hash: '0'.repeat(64) })),
    vector('link removed', ['hash', 'link'], second({ previous_hash: null })),
    vector('link empty', ['hash', 'link'], alter(0, { previous_hash: '' })),
    vector('hash changed', ['hash', 'entry', 'link'], second({ hash: 'f'.repeat(64) })),
    vector(
      'hash in upper case',
      ['hash', 'entry', 'link'],
      second({ hash: honestChain()[1]?.hash.toUpperCase() ?? '' }),
    ),
    vector('position repeated', ['link', 'entry', 'link'], second({ chain_position: 1 })),
    vector('position skipped', ['link', 'entry', 'link'], second({ chain_position: 3 })),
    vector('another thought id', ['entry'], second({ thought_no: 9 })),
    vector('another attempt', ['entry'], second({ attempt: 2 })),
    vector('another session', ['entry'], second({ session_no: 2 })),
    vector('another place in the session', ['entry'], second({ session_seq: 7 })),
    vector('extras changed', ['entry'], second({ extras: '{"branch":"other"}' })),
    vector('extras not canonical', ['entry'], second({ extras: '{ "branch":"main"}' })),
    vector('extras under another salt', ['entry'], second({ salt: 'a'.repeat(32) })),
    vector('salt in upper case', ['entry'], second({ salt: 'AB'.repeat(16) })),
    vector('salt too short', ['entry'], second({ salt: '00' })),
    vector('first thought left out', ['link', 'link'], honest().slice(1)),
    vector(
      'middle thought left out',
      ['link', 'link'],
      honest().filter((_, index) => index !== 1),
    ),
    vector('two thoughts swapped', ['link', 'link', 'link', 'link', 'link', 'link'], swapped()),
    vector(
      'entry of another thought',
      Array.from({ length: 6 }, () => 'entry'),
      entries((_, index) => entryOf(honestChain()[index === 1 ? 0 : index] as VectorRow)),
    ),
    vector(
      'entry missing',
      Array.from({ length: 11 }, () => 'entry'),
      entries((entry, index) => (index === 1 ? '' : entry)),
    ),
    vector(
      'entry not canonical',
      Array.from({ length: 11 }, () => 'entry'),
      entries((entry, index) => (index === 1 ? entry.replace('"v":1', '"v": 1') : entry)),
    ),
    vector(
      'entry with a key twice',
      Array.from({ length: 11 }, () => 'entry'),
      entries((entry, index) => (index === 1 ? entry.replace('"v":1', '"v":1,"v":1') : entry)),
    ),
    vector(
      'entry of another kind',
      ['entry'],
      entries((entry, index) => (index === 1 ? entry.replace('"kind":"thought"', '"kind":"genesis"') : entry)),
    ),
    vector(
      'keys hashed in alphabetical order',
      ['hash', 'hash', 'hash'],
      chained((row) => hashOf(row, Object.keys(preimage(row)).toSorted())),
    ),
    vector(
      'genesis hashed as an empty text',
      ['hash'],
      chained((row) => hashOf({ ...row, previous_hash: row.previous_hash ?? '' })),
    ),
    vector(
      'hashed without the author',
      ['hash', 'hash', 'hash'],
      chained((row) => hashOf(row, Object.keys(preimage(row)).slice(0, 5))),
    ),
    vector(
      'hashed with the number for the id of the task',
      ['hash', 'hash', 'hash'],
      chained((row) => sha256(JSON.stringify({ ...preimage(row), task_id: row.task_no }))),
    ),
  ];
}

const CONTENTS = ['Use a strict parser.', 'Caf\u00e9.', 'Done \u{1F426}'];

function honestChain(hashed: (row: VectorRow) => string = hashOf): VectorRow[] {
  const chain: VectorRow[] = [];
  for (const [index, content] of CONTENTS.entries()) {
    const row: VectorRow = {
      thought_no: index + 1,
      idx: index * 3 + 5,
      task_no: 1,
      chain_position: index + 1,
      attempt: 1,
      session_no: 1,
      session_seq: index + 1,
      type: 'decision',
      content,
      recorded_at: `2026-04-08T22:0${index}:00.000Z`,
      recorded_by: 'agent-bob',
      previous_hash: chain.at(-1)?.hash ?? null,
      hash: '',
      extras: '{"branch":"main"}',
      salt: `${index}`.repeat(32),
    };
    chain.push({ ...row, hash: hashed(row) });
  }
  return chain;
}

function honest(): ChainVector['thoughts'] {
  return honestChain().map((row) => ({ row, entry: entryOf(row) }));
}

/** One row changed after the entry was written. */
function alter(place: number, change: Partial<VectorRow>): ChainVector['thoughts'] {
  return honest().map(({ row, entry }, index) => ({ row: index === place ? { ...row, ...change } : row, entry }));
}

function entries(change: (entry: string, index: number) => string): ChainVector['thoughts'] {
  return honest().map(({ row, entry }, index) => ({ row, entry: change(entry, index) }));
}

function swapped(): ChainVector['thoughts'] {
  const [first, second, third] = honest();
  return [second, first, third].filter((thought) => thought !== undefined);
}

function preimage({ task_no, type, content, previous_hash, recorded_at, recorded_by }: VectorRow) {
  return { task_id: `T-000${task_no}`, type, content, previous_hash, recorded_at, recorded_by };
}

function hashOf(row: VectorRow, keys: readonly string[] = Object.keys(preimage(row))): string {
  const values: Record<string, unknown> = preimage(row);
  return sha256(JSON.stringify(Object.fromEntries(keys.map((key) => [key, values[key]]))));
}

function entryOf(row: VectorRow): string {
  const bytes = [Buffer.from('colibri:extras:v1\n'), Buffer.from(row.salt, 'hex'), Buffer.from(row.extras)];
  return (
    `{"actor":"${row.recorded_by}","at":"${row.recorded_at}","attempt":${row.attempt},"chain_position":${row.chain_position},` +
    `"extras":"${sha256(Buffer.concat(bytes))}","hash":"${row.hash}","kind":"thought","session_id":"A-000${row.session_no}",` +
    `"session_seq":${row.session_seq},"task_id":"T-000${row.task_no}","thought_id":"\u0398-000${row.thought_no}","v":1}`
  );
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}
