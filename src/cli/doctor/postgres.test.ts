import { describe, expect, it } from 'vitest';
import { checkConnections, checkEncryption, checkServer } from './postgres.ts';

describe('the findings for a PostgreSQL server', () => {
  it.each([
    ['without TLS over a network', { is_encrypted: 0, is_local: 0 }, 'warn'],
    ['without TLS on one machine', { is_encrypted: 0, is_local: 1 }, 'ok'],
    ['with TLS over a network', { is_encrypted: 1, is_local: 0 }, 'ok'],
  ])('rates a connection %s', (_what, facts, status) => {
    expect(checkEncryption(facts)).toMatchObject({ status });
  });

  it.each([
    [97, 88, 'warn'],
    [97, 87, 'ok'],
    [97, 97, 'warn'],
  ])('rates a limit of %i connections with %i in use', (max_connections, connections, status) => {
    expect(checkConnections({ servers: 3, connections, max_connections })).toMatchObject({ status });
  });

  it.each([
    [13, 0, 'FULL', 'warn'],
    [14, 0, 'FULL', 'ok'],
    [18, 1, 'FULL', 'fail'],
    [18, 1, 'READONLY', 'ok'],
  ] as const)('rates PostgreSQL %i, replica %i, mode %s', (major, is_replica, mode, status) => {
    expect(checkServer({ version: `${major}.1`, major, is_replica }, { mode })).toMatchObject({ status });
  });
});
