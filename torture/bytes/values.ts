import { HOSTILE_TEXTS } from '../../test/support/hostile-text.ts';
import type { Random } from '../random.ts';

const TEXTS: readonly [string, ...string[]] = [
  '',
  ' ',
  'plain',
  'T-0001',
  'A-0001',
  '\u0398-0001',
  '__proto__',
  'constructor',
  'toString',
  "'; DROP TABLE tasks; --",
  '$1',
  '%s%n',
  '../../etc/passwd',
  'a\u0000b',
  '\ud800',
  'x\udc00',
  '\u{10ffff}',
  'e\u0301'.repeat(50),
  'a'.repeat(10_000),
  '9'.repeat(400),
  '-'.repeat(300),
  '{"a":1}',
  'todo',
  'in_progress',
  'done',
  'decision',
  '2026-01-01T00:00:00.000Z',
  '99999999999999h',
  ...Object.values(HOSTILE_TEXTS),
];

/** JSON source of numbers, including those that no reader keeps. */
const NUMBERS = [
  '0',
  '-0',
  '1',
  '-1',
  '0.1',
  '1e999',
  '-1e999',
  '9007199254740993',
  '1e-400',
  '100',
  '101',
  '2147483648',
] as const;

export function hostileText(random: Random): string {
  return random.isOneIn(6) ? randomText(random) : random.pick(TEXTS);
}

/** JSON source rather than a value, because not every text that a client can send is the JSON of a value. */
export function hostileJson(random: Random, depth = 0): string {
  const kind = random.below(depth > 4 ? 4 : 8);
  if (kind === 0) return random.pick(NUMBERS);
  if (kind === 1) return random.pick(['null', 'true', 'false']);
  if (kind <= 4) return JSON.stringify(hostileText(random));
  // A long list has no lists in it: the text stays below some megabytes.
  const isLong = depth === 0 && random.isOneIn(50);
  const items = Array.from({ length: isLong ? 500 : random.below(4) }, () =>
    hostileJson(random, isLong ? 9 : depth + 1),
  );
  if (kind === 5) return `[${items.join()}]`;
  if (random.isOneIn(200)) return '['.repeat(20_000) + ']'.repeat(20_000);
  return `{${items.map((item) => `${JSON.stringify(hostileText(random))}:${item}`).join()}}`;
}

function randomText(random: Random): string {
  const length = random.below(40);
  return String.fromCharCode(...Array.from({ length }, () => random.below(random.isOneIn(2) ? 128 : 65_536)));
}
