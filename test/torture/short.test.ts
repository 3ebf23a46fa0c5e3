import { join } from 'node:path';
import { describe, expect, inject } from 'vitest';
import { PARTS } from '../../torture/parts.ts';
import { playPart } from '../../torture/play.ts';
import { tempFolder } from '../support/folders.ts';
import { newPostgresUrl } from '../support/postgres/database.ts';
import { promiseTest } from '../support/promise-test.ts';

/** The same rounds in every run; `npm run torture` chooses others. */
const SEED = 42;

describe('a short round of torture', () => {
  promiseTest('torture/short', 'leaves out what needs a long run', () => {
    expect(PARTS.filter(({ minMinutes }) => minMinutes !== undefined).map(({ name }) => name)).toEqual([
      'contention',
      'scale',
      'tests',
    ]);
  });

  for (const part of PARTS.filter(({ minMinutes }) => minMinutes === undefined))
    promiseTest('torture/short', part.name, async () => {
      const log: string[] = [];
      const { problems, counts } = await playPart(part, {
        seed: SEED,
        size: 'short',
        timeMs: 0,
        rounds: part.shortRounds ?? 1,
        parent: join(tempFolder(), 'rounds'),
        newPostgresUrl: () => newPostgresUrl(inject('postgresUrl')),
        log: (line) => log.push(line),
      });
      expect(problems, log.join('\n')).toEqual([]);
      if (part.name === 'processes') expect(counts).toMatchObject({ 'rounds on SQLite': 1, 'rounds on PostgreSQL': 1 });
      expect(Object.values(counts).some((count) => count > 0)).toBe(true);
    });
});
