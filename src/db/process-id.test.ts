import { describe, expect, it } from 'vitest';
import { createProcessId, hadSameParent, isProcessId, type Origin, ranInSameFolder } from './process-id.ts';

const HERE = { folder: '/project', parentId: 42, engine: 'postgres' } as const;
const IN_FILE = { ...HERE, engine: 'sqlite' } as const;

describe('createProcessId', () => {
  it('creates distinct version 4 UUIDs', () => {
    const ids = Array.from({ length: 1000 }, () => createProcessId(HERE));
    expect(ids.every(isProcessId)).toBe(true);
    expect(new Set(ids).size).toBe(1000);
  });

  it('lets the successor of a process be recognized by folder and parent', () => {
    const id = createProcessId(HERE, 'laptop');
    const compare = (origin: Origin, machine = 'laptop') => {
      const other = createProcessId(origin, machine);
      return [ranInSameFolder(id, other), hadSameParent(id, other)];
    };
    expect(compare(HERE)).toEqual([true, true]);
    expect(compare({ ...HERE, parentId: 43 })).toEqual([true, false]);
    expect(compare({ ...HERE, folder: '/elsewhere' })).toEqual([false, false]);
    expect(compare(HERE, 'desktop')).toEqual([false, false]);
  });

  it('recognizes the successor beside a file after the host name changed, since all processes run on one machine', () => {
    const ids = ['laptop', 'laptop.local'].map((machine) => createProcessId(IN_FILE, machine)) as [string, string];
    expect([ranInSameFolder(...ids), hadSameParent(...ids)]).toEqual([true, true]);
    const elsewhere = createProcessId({ ...IN_FILE, folder: '/elsewhere' }, 'laptop');
    expect([ranInSameFolder(ids[0], elsewhere), hadSameParent(ids[0], elsewhere)]).toEqual([false, false]);
  });

  it('shows no more than 16 bits of the folder', () => {
    const shown = new Set(Array.from({ length: 300 }, () => createProcessId(HERE, 'laptop').slice(0, 8)));
    expect(shown.size).toBe(1);
    const later = Array.from({ length: 300 }, () => createProcessId(HERE, 'laptop').slice(9));
    expect(new Set(later).size).toBe(300);
  });
});
