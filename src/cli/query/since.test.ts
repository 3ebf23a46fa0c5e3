import { describe, expect, it } from 'vitest';
import { parseSince } from './since.ts';

const NOW_MS = Date.parse('2026-04-08T22:15:30.000Z');
const parse = (text: string) => parseSince(text, NOW_MS);

describe('parseSince', () => {
  it.each([
    ['90s', '2026-04-08T22:14:00.000Z'],
    ['2h', '2026-04-08T20:15:30.000Z'],
    ['7d', '2026-04-01T22:15:30.000Z'],
    ['2026-04-08T22:15Z', '2026-04-08T22:15:00.000Z'],
    ['2026-04-08 22:15:30.5z', '2026-04-08T22:15:30.500Z'],
    ['2026-04-08T22:15:30+02:00', '2026-04-08T20:15:30.000Z'],
    ['2026-04-08T22:15:30-09:30', '2026-04-09T07:45:30.000Z'],
    [' 2024-02-29Z ', '2024-02-29T00:00:00.000Z'],
  ])('reads %j as %s', (text, expected) => expect(parse(text)).toBe(expected));

  it('reads a time without a zone as local time', () => {
    expect(parse('2026-04-08')).toBe(new Date(2026, 3, 8).toISOString());
    expect(parse('2026-04-08T22:15')).toBe(new Date(2026, 3, 8, 22, 15).toISOString());
    expect(parse('2026-04-08 22:15:30')).toBe(new Date(2026, 3, 8, 22, 15, 30).toISOString());
  });

  it.each([
    '',
    '0s',
    '2',
    'h',
    '-2h',
    'yesterday',
    '2026',
    '2026-04',
    '2026-13-01',
    '2026-02-30',
    '2025-02-29Z',
    '2026-04-08T24:00',
    '2026-04-08T22:60',
    '2026-04-08T22:15:61',
    '2026-04-08T22',
    '2026-04-08T22:15+15:00',
    '2026-04-08T22:15+02:60',
    '2026-04-08T22:15 CET',
    "2026-04-08' OR 1",
    '99999999d',
  ])('refuses %j', (text) => expect(() => parse(text)).toThrow('or a time such as 2026-04-08'));
});
