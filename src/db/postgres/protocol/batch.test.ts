import { describe, expect, it } from 'vitest';
import { Batch } from './batch.ts';

const ENTRY = 'INSERT INTO entries (idx, text) VALUES ($1, $2)';

describe('a batch of changes', () => {
  it('merges a batch into one statement with its values in the order of arrival', () => {
    const batch = new Batch();
    expect(batch.take(ENTRY, [1, 'one'])).toBe(true);
    expect(batch.take('UPDATE head SET size = $1', [2])).toBe(true);
    expect(batch.flush()).toMatchObject({
      text: 'WITH change_0 AS (INSERT INTO entries (idx, text) VALUES ($1, $2)) UPDATE head SET size = $3',
      parameters: [1, 'one', 2],
    });
    expect(batch.flush()).toBeUndefined();
  });

  it('adds the rows of one table at once, wherever they stand', () => {
    const batch = new Batch();
    batch.take(ENTRY, [1, 'one']);
    batch.take('UPDATE head SET size = $1', [2]);
    batch.take(ENTRY, [2, 'two']);
    expect(batch.flush()).toMatchObject({
      text: 'WITH change_0 AS (INSERT INTO entries (idx, text) VALUES ($1, $2), ($4, $5)) UPDATE head SET size = $3',
      parameters: [1, 'one', 2, 2, 'two'],
    });
  });

  it('keeps every change whose text it cannot put together with another', () => {
    const batch = new Batch();
    batch.take('INSERT INTO marks SELECT 1', []);
    batch.take('INSERT INTO marks SELECT 1', []);
    expect(batch.flush()?.text).toBe('WITH change_0 AS (INSERT INTO marks SELECT 1) INSERT INTO marks SELECT 1');
  });

  it.each([
    ['a second change of a table', 'UPDATE head SET size = $1', 'UPDATE head SET size = $1'],
    ['a change of what was added', ENTRY, 'DELETE FROM entries WHERE idx = $1 AND text = $2'],
    ['an addition to what was changed', 'DELETE FROM entries WHERE idx = $1 AND text = $2', ENTRY],
    ['an addition that may be a change', ENTRY, `${ENTRY} ON CONFLICT (idx) DO NOTHING`],
    ['a statement that changes nothing', ENTRY, 'SELECT $1, $2'],
  ])('leaves %s to the next statement, every time', (_name, first, second) => {
    for (let time = 0; time < 2; time += 1) {
      const batch = new Batch();
      const values = first.includes('$2') ? [1, 'one'] : [1];
      expect(batch.take(first, values)).toBe(true);
      expect(batch.take(second, values)).toBe(false);
      expect(batch.flush()?.text).toBe(first);
    }
  });
});
