import { describe, expect } from 'vitest';
import { promiseTest } from '../../test/support/promise-test.ts';
import { commitPageOf } from './commit-page.ts';

describe('the page of a commit', () => {
  for (const [remote, page] of [
    ['https://github.com/ada/engine.git', 'https://github.com/ada/engine/commit/abcdef1'],
    ['https://ada:secret@github.com/ada/engine/', 'https://github.com/ada/engine/commit/abcdef1'],
    ['git@github.com:ada/engine.git', 'https://github.com/ada/engine/commit/abcdef1'],
    ['ssh://git@GitHub.com:22/ada/engine', 'https://github.com/ada/engine/commit/abcdef1'],
    ['https://gitlab.com/group/part/engine.git', 'https://gitlab.com/group/part/engine/-/commit/abcdef1'],
    ['https://gitlab.example.org:8443/a/b', 'https://gitlab.example.org:8443/a/b/-/commit/abcdef1'],
    ['git@code.gitlab.example.org:a/b', 'https://code.gitlab.example.org/a/b/-/commit/abcdef1'],
  ] as const)
    promiseTest('cli/commit-links', `of ${remote}`, () => {
      expect(commitPageOf(remote)?.('abcdef1')).toBe(page);
    });

  for (const remote of [
    '',
    'http://github.com/ada/engine',
    'https://example.org/ada/engine',
    'https://notgithub.com/ada/engine',
    'https://github.com/engine',
    'https://github.com/ada/../engine',
    'https://github.com/ada/..',
    'https://github.com/ada/engine?x=1',
    'https://github.com/ada/eng\u001b]8;;ine',
    'https://github.com/ada/engine\u0007',
    'https://github.com@example.org/ada/engine',
    'file:///github.com/ada/engine',
    '/srv/github.com/ada/engine',
    'javascript:alert(1)//github.com/a/b',
  ])
    promiseTest('cli/commit-links', `is unknown for ${JSON.stringify(remote)}`, () => {
      expect(commitPageOf(remote)).toBeUndefined();
    });
});
