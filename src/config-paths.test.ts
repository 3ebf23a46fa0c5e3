import { describe, expect } from 'vitest';
import { promiseTest } from '../test/support/promise-test.ts';
import { readConfig } from './config.ts';

describe('a path in the environment', () => {
  for (const name of ['COLIBRI_DB_PATH', 'COLIBRI_SKILLS_PATH'])
    promiseTest('config/refused', `${name} with a beginning that a shell or a client should have replaced`, () => {
      const variables = [
        '$HOME/x',
        '%USERPROFILE%/x',
        ...['HOME', 'workspaceFolder'].map((variable) => `$\{${variable}}/x`),
      ];
      for (const value of ['~', '~/colibri.db', '~ada/colibri.db', ...variables])
        expect(() => readConfig({ [name]: value })).toThrow(
          /^COLIBRI_\w+: nothing has replaced the .*; write the whole path$/,
        );
      for (const value of ['a~/x', './~/x', 'a$b', '100%/x', '$5 off', '~~'])
        expect(() => readConfig({ [name]: value })).not.toThrow();
    });
});
