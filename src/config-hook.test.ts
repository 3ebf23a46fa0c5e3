import { describe, expect, it } from 'vitest';
import { readHookConfig } from './config.ts';

describe('the configuration of a hook', () => {
  it('never fails: a wrong value counts as the one that stores least', () => {
    const defaults = {
      dbPath: undefined,
      projectFolders: [],
      level: 'excerpts',
      isDurable: true,
      testSession: undefined,
    };
    expect(readHookConfig({})).toEqual(defaults);
    expect(readHookConfig({ COLIBRI_RECORD: '', COLIBRI_DB_PATH: '', COLIBRI_DURABILITY: 'full' })).toEqual(defaults);
    const wrong = { COLIBRI_RECORD: 'everything', COLIBRI_DURABILITY: 'maybe', COLIBRI_MODE: 'LOUD', AMS_ROOT: 'old' };
    expect(readHookConfig(wrong)).toEqual({ ...defaults, level: 'digests' });
    const folders = { CURSOR_PROJECT_DIR: '/c', CLAUDE_PROJECT_DIR: '/a', GEMINI_PROJECT_DIR: 'relative' };
    const own = {
      COLIBRI_RECORD: 'full',
      COLIBRI_DURABILITY: 'relaxed',
      COLIBRI_DB_PATH: 'x.db',
      ...folders,
      COLIBRI_HOOK_TEST: 's',
    };
    const expected = {
      dbPath: 'x.db',
      projectFolders: ['/a', '/c'],
      level: 'full',
      isDurable: false,
      testSession: 's',
    };
    expect(readHookConfig(own)).toEqual(expected);
  });
});
