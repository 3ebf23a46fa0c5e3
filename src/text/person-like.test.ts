import { describe, expect } from 'vitest';
import { promiseTest } from '../../test/support/promise-test.ts';
import { isPersonLike, withoutPersonPrefix } from './person-like.ts';

describe('a name that a reader takes for a person', () => {
  for (const name of [
    'person:root',
    'Person:root',
    'PERSON:',
    'person\uff1aroot',
    'person\ua789root',
    'person \u2236 root',
    '\uff50\uff45\uff52\uff53\uff4f\uff4e:root',
    'per\u200bson\u00ad:root',
    '\u0440\u0435r\u0455\u043en:root',
  ])
    promiseTest('people/names', `is no longer one without its colon: ${JSON.stringify(name)}`, () => {
      expect(isPersonLike(name)).toBe(true);
      expect(isPersonLike(withoutPersonPrefix(name))).toBe(false);
    });

  for (const name of ['personal:root', 'person-root', 'person', 'a person:root', 'persona', 'claude:person:', ''])
    promiseTest('people/names', `leaves others as they are: ${JSON.stringify(name)}`, () => {
      expect(withoutPersonPrefix(name)).toBe(name);
    });
});
