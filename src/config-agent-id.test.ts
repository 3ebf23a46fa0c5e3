import { describe, expect } from 'vitest';
import { promiseTest } from '../test/support/promise-test.ts';
import { readConfig } from './config.ts';

describe('an agent id that ends with #', () => {
  promiseTest('config/variables', 'is the base of names', () => {
    for (const agentBase of ['backend', 'a#2', 'a'.repeat(128)])
      expect(readConfig({ COLIBRI_AGENT_ID: `${agentBase}#` })).toEqual({ ...readConfig({}), agentBase });
  });

  promiseTest('config/refused', 'without a name, and with the name of a person', () => {
    for (const id of [
      '#',
      ' #',
      'a #',
      'person:ada#',
      'Person:ada',
      'person\uff1aada',
      'unassigned#',
      'unassigned',
      `${'a'.repeat(129)}#`,
    ])
      expect(() => readConfig({ COLIBRI_AGENT_ID: id })).toThrow('a # at the end numbers agents');
  });
});
