import { describe, expect, it } from 'vitest';
import { DatabaseError } from '../database.ts';
import { explainPostgresFault, isConnectionEnded, isConnectionLost } from './errors.ts';

const here = { location: 'postgres://here', redact: (text: string) => text, wasConnected: true };

function said(severity: string, code: string): Error {
  return Object.assign(new Error('the server said so'), { severity, code });
}

describe('the last words of a server', () => {
  // Written in a commit record and not synced: recovery may bring the change back.
  for (const code of ['58030', '53100', 'XX000', '25P04', '57P04', '40001'])
    it(`end the connection, whatever they are about (${code})`, () => {
      expect(isConnectionEnded(said('PANIC', code))).toBe(true);
      expect(isConnectionEnded(said('FATAL', code))).toBe(true);
      expect(isConnectionEnded(said('ERROR', code))).toBe(false);
    });

  it('reports an unknown final message of the server as a lost connection', () => {
    expect(explainPostgresFault(said('FATAL', 'XX000'), here)).toMatchObject({ fault: 'lost' });
    expect(explainPostgresFault(said('FATAL', '40001'), here)).toMatchObject({ fault: 'busy' });
    expect(explainPostgresFault(said('ERROR', 'XX000'), here)).not.toBeInstanceOf(DatabaseError);
  });

  it('does not retry after a rejected password', () => {
    expect(isConnectionLost(said('FATAL', '28P01'))).toBe(false);
  });
});

describe('an error of the program', () => {
  it('returns an error of the program unchanged, even if it has a code', () => {
    const error = Object.assign(new Error('no project'), { code: 'ERR_PROJECT_NOT_FOUND' });
    expect(explainPostgresFault(error, here)).toBe(error);
  });
});
