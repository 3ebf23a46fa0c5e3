import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { readArguments, UsageError } from '../../torture/arguments.ts';
import type { Outcome, Part, Round } from '../../torture/part.ts';
import { type Limits, playPart } from '../../torture/play.ts';
import { Random } from '../../torture/random.ts';
import { type Results, renderReport } from '../../torture/report.ts';
import { tempFolder } from '../support/folders.ts';
import { promiseTest } from '../support/promise-test.ts';

describe('the frame of npm run torture', () => {
  promiseTest('torture/frame', 'adds up what the rounds counted and keeps the highest values', async () => {
    const { limits } = prepare({ rounds: 3 });
    const played = await playPart(
      partOf(({ seed }) => ({ counts: { calls: seed }, highest: { ms: -seed }, problems: [] })),
      limits,
    );
    expect(played).toMatchObject({ rounds: 3, counts: { calls: 7 + 8 + 9 }, highest: { ms: -7 }, problems: [] });
  });

  promiseTest(
    'torture/frame',
    'prints the script of a round that broke a promise and how to play it again',
    async () => {
      const { limits, log } = prepare({ rounds: 2 });
      const broken = (seed: number) => (seed === 8 ? ['an entry is missing'] : []);
      const part = partOf(({ seed }) => ({ counts: {}, problems: broken(seed), script: [`script of ${seed}`] }));
      expect((await playPart(part, limits)).problems).toEqual(['an entry is missing']);
      expect(log.join('\n')).toContain('script of 8');
      expect(log.join('\n')).not.toContain('script of 7');
      expect(log.join('\n')).toContain('npm run torture -- --only sample --seed 8 --rounds 1');
    },
  );

  promiseTest(
    'torture/frame',
    'reports a round that ends with an error as a problem, and removes its folder',
    async () => {
      const { limits } = prepare({ rounds: 1 });
      let used = '';
      const part = partOf(({ folder }) => {
        used = folder;
        writeFileSync(join(folder, 'file'), '');
        throw new Error('the referee crashed');
      });
      expect((await playPart(part, limits)).problems).toEqual([expect.stringContaining('the referee crashed')]);
      expect([used === '', existsSync(used)]).toEqual([false, false]);
    },
  );

  promiseTest('torture/frame', 'starts no round after the time is over, and always one', async () => {
    const { limits } = prepare({ rounds: 100, size: 'full', timeMs: 0 });
    expect(
      await playPart(
        partOf(() => ({ counts: {}, problems: [] })),
        limits,
      ),
    ).toMatchObject({ rounds: 1 });
  });

  promiseTest('torture/frame', 'plays the rounds that a part needs at least, unless fewer are asked for', async () => {
    const part = { ...partOf(() => ({ counts: {}, problems: [] })), leastRounds: 3 };
    for (const [rounds, played] of [
      [100, 3],
      [2, 2],
    ] as const) {
      const { limits } = prepare({ rounds, size: 'full', timeMs: 0 });
      expect(await playPart(part, limits)).toMatchObject({ rounds: played });
    }
  });

  promiseTest('torture/frame', 'makes the same choices for the same seed, and others for the next', () => {
    const choices = (seed: number) => Array.from({ length: 20 }, (_, turn) => new Random(seed + turn).below(1000));
    expect(choices(42)).toEqual(choices(42));
    expect(choices(42)).not.toEqual(choices(43));
  });
});

describe('the arguments of npm run torture', () => {
  const ALL = [
    { ...partOf(() => ({ counts: {}, problems: [] })), name: 'quick' },
    { ...partOf(() => ({ counts: {}, problems: [] })), name: 'slow', minMinutes: 30 },
  ];
  const read = (...args: string[]) => readArguments(args, ALL, 7);

  promiseTest('torture/frame', 'gives each part its share of the time, or as much as each is to have', () => {
    expect(read()).toMatchObject({ seed: 7, partMinutes: 10, parts: [{ name: 'quick' }] });
    expect(read('--minutes', '40')).toMatchObject({ partMinutes: 20, parts: [{ name: 'quick' }, { name: 'slow' }] });
    expect(read('--each', '20', '--seed', '1')).toMatchObject({ seed: 1, partMinutes: 20, parts: { length: 2 } });
    expect(read('--only', 'slow', '--minutes', '1')).toMatchObject({ partMinutes: 1, parts: [{ name: 'slow' }] });
  });

  for (const args of [
    ['--only', 'nope'],
    ['--only', ''],
    ['--minutes', 'abc'],
    ['--minutes', ''],
    ['--minutes', '-1'],
    ['--each', 'x'],
    ['--seed', '-1'],
    ['--seed', '1.5'],
    ['--rounds', '0'],
    ['--unknown'],
    ['--seed'],
  ])
    promiseTest('torture/frame', `refuses ${args.join(' ')} in one line`, () => {
      expect(() => read(...args)).toThrow(UsageError);
      expect(() => read(...args)).toThrow(/^[^\n]+$/);
    });
});

describe('docs/reliability.md', () => {
  promiseTest('torture/report', 'has exactly what torture/results.json says', () => {
    const results = existsSync('torture/results.json') ? readFileSync('torture/results.json', 'utf8') : '{}';
    expect(readFileSync('docs/reliability.md', 'utf8')).toBe(renderReport(JSON.parse(results) as Results));
  });

  promiseTest('torture/report', 'shows broken promises, and what was not tried', () => {
    const result = {
      says: 'breaks pipes',
      date: '2026-01-02',
      seed: 5,
      version: '1.2.3',
      system: 'Node 20',
      rounds: 2,
      seconds: 90,
      counts: { kills: 12_345 },
      highest: { 'wait, ms': 1.5 },
      problems: ['lost'],
      skipped: ['no strace'],
    };
    const page = renderReport({ ran: result });
    expect(page).toContain('## ran\n\nIt breaks pipes.');
    expect(page).toContain('2026-01-02, Colibri 1.2.3, Node 20: 90 s, 2 rounds, seeds 5 to 6.');
    for (const text of ['12,345', '1.5', '**Broken:** lost', 'Not tried: no strace.']) expect(page).toContain(text);
    expect(page).toMatch(/\| broken promises +\| +1 \|/);
  });
});

function partOf(play: (round: Round) => Outcome): Part {
  return { name: 'sample', says: 'samples', play: async (round) => play(round) };
}

function prepare(changes: Partial<Limits>): { limits: Limits; log: string[] } {
  const log: string[] = [];
  const limits: Limits = {
    seed: 7,
    size: 'short',
    timeMs: 0,
    rounds: 1,
    parent: tempFolder(),
    newPostgresUrl: () => Promise.reject(new Error('not needed')),
    log: (line) => log.push(line),
    ...changes,
  };
  return { limits, log };
}
