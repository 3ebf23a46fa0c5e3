import { afterEach, describe, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.restoreAllMocks();
  vi.resetModules();
});

describe('the SQLite of Node', () => {
  it('says what to do if this Node was built without it', async () => {
    // Where Node has SQLite, the set-up of the tests has loaded the module.
    vi.resetModules();
    vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined);
    await expect(import('./node-sqlite.ts')).rejects.toThrow(
      /^this Node has no SQLite: .*; remove --no-experimental-sqlite from NODE_OPTIONS, or use a Node from nodejs\.org$/,
    );
  });
});
