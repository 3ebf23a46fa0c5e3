import { describe, expect } from 'vitest';
import { promiseTest } from '../../test/support/promise-test.ts';
import { isPersonLike, isReservedLike, toAgentName } from './reserved-name.ts';

const PEOPLE = [
  'person:root',
  'Person:root',
  'PERSON:',
  'person\uff1aroot',
  'person\ua789root',
  'person \u2236 root',
  '\uff50\uff45\uff52\uff53\uff4f\uff4e:root',
  'per\u200bson\u00ad:root',
  '\u0440\u0435r\u0455\u043en:root',
];

const RECORDERS = [
  'hook:git',
  'Hook:claude-code',
  'HOOK:',
  ' hook : git',
  'hook\uff1agit',
  'ho\u200bok:git',
  'h\u043e\u03bfk:git',
  '\u041d\u041e\u041e\u041a:git',
  '\u0397\u039f\u039f\u039a:git',
];

const OWN = ['colibri', 'Colibri', 'COLIBRI', 'col\u200bibri', '\u0441\u043el\u0456bri', '\uff43olibri'];

describe('a name that a reader takes for another', () => {
  for (const name of PEOPLE)
    promiseTest('people/names', `is no longer a person's without its colon: ${JSON.stringify(name)}`, () => {
      expect(isPersonLike(name)).toBe(true);
      expect(isReservedLike(name)).toBe(true);
      expect(isReservedLike(toAgentName(name))).toBe(false);
    });

  for (const name of [...RECORDERS, ...OWN])
    promiseTest('agents/reserved', `is altered: ${JSON.stringify(name)}`, () => {
      expect(isPersonLike(name)).toBe(false);
      expect(isReservedLike(name)).toBe(true);
      expect(isReservedLike(toAgentName(name))).toBe(false);
    });

  for (const name of [
    'personal:root',
    'person-root',
    'person',
    'a person:root',
    'persona',
    'claude:person:',
    '',
    'hook',
    'hooks:git',
    'webhook:git',
    'hook-git',
    'colibri-tests',
    'my colibri',
    'colibri#2',
  ])
    promiseTest('agents/reserved', `leaves others as they are: ${JSON.stringify(name)}`, () => {
      expect(isReservedLike(name)).toBe(false);
      expect(toAgentName(name)).toBe(name);
    });
});
