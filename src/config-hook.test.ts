import { describe, expect, it } from 'vitest';
import { promiseTest } from '../test/support/promise-test.ts';
import { createGitEnvironment, RECORD_LEVELS, readConfig, readHookConfig } from './config.ts';

describe('the configuration of a hook', () => {
  it('never fails: a wrong value counts as the one that stores least', () => {
    const defaults = {
      dbPath: undefined,
      projectFolders: [],
      level: 'excerpts',
      isDurable: true,
      mayIngest: true,
      isInCopilotCli: false,
      clientVersions: { 'claude-code': undefined, 'copilot-cli': undefined },
      testSession: undefined,
    };
    expect(readHookConfig({})).toEqual(defaults);
    expect(readHookConfig({ COLIBRI_RECORD: '', COLIBRI_DB_PATH: '', COLIBRI_DURABILITY: 'full' })).toEqual(defaults);
    const wrong = { COLIBRI_RECORD: 'everything', COLIBRI_DURABILITY: 'maybe', COLIBRI_MODE: 'LOUD', AMS_ROOT: 'old' };
    expect(readHookConfig(wrong)).toEqual({ ...defaults, level: 'digests', mayIngest: false });
    const folders = { CURSOR_PROJECT_DIR: '/c', CLAUDE_PROJECT_DIR: '/a', GEMINI_PROJECT_DIR: 'relative' };
    const own = {
      COLIBRI_RECORD: 'full',
      COLIBRI_DURABILITY: 'relaxed',
      COLIBRI_DB_PATH: 'x.db',
      ...folders,
      COLIBRI_HOOK_TEST: 's',
      COLIBRI_DATABASE_URL: 'postgres://x/y',
      COPILOT_CLI: '1',
      COPILOT_CLI_BINARY_VERSION: '1.0.102',
      AI_AGENT: 'claude-code_2-1-325_x',
    };
    const expected = {
      dbPath: 'x.db',
      projectFolders: ['/a', '/c'],
      level: 'full',
      isDurable: false,
      mayIngest: false,
      isInCopilotCli: true,
      clientVersions: { 'claude-code': '2.1.325', 'copilot-cli': '1.0.102' },
      testSession: 's',
    };
    expect(readHookConfig(own)).toEqual(expected);
  });

  promiseTest('config/refused', 'COLIBRI_RECORD is checked by servers and commands, which may fail', () => {
    for (const level of RECORD_LEVELS) expect(readConfig({ COLIBRI_RECORD: level }).recordLevel).toBe(level);
    expect(() => readConfig({ COLIBRI_RECORD: 'everything' })).toThrow(
      'COLIBRI_RECORD: "everything" is not one of digests, excerpts, full',
    );
  });
});

describe('the environment of git', () => {
  it('keeps the repository of a hook, and reads without its index, the network or replaced objects', () => {
    const hook = { GIT_DIR: '.git/worktrees/a', GIT_INDEX_FILE: '.git/index.lock', GIT_ALLOW_PROTOCOL: 'ext' };
    expect(createGitEnvironment({ HOME: '/dev/null' }, { ...hook, HOME: '/ada', PATH: '/bin' })).toMatchObject({
      GIT_DIR: '.git/worktrees/a',
      GIT_INDEX_FILE: undefined,
      GIT_ALLOW_PROTOCOL: 'none',
      GIT_NO_LAZY_FETCH: '1',
      GIT_NO_REPLACE_OBJECTS: '1',
      HOME: '/dev/null',
      PATH: '/bin',
    });
    expect(createGitEnvironment()['PATH']).toBe(process.env['PATH']);
  });
});

describe('the path of the key', () => {
  it('accepts an absolute key path or none, and refuses any other', () => {
    for (const value of ['/keys/colibri', 'none']) expect(readConfig({ COLIBRI_KEY_PATH: value }).keyPath).toBe(value);
    for (const value of ['key', './key', '../key', 'NONE'])
      expect(() => readConfig({ COLIBRI_KEY_PATH: value })).toThrow('is not an absolute path, or none');
  });
});
