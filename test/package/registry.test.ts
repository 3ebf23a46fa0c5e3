import { existsSync, readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { MODES } from '../../src/modes.ts';
import { promiseTest } from '../support/promise-test.ts';
import { MANIFEST } from './packed.ts';
import { serverJson } from './published-schemas.ts';

const raw = JSON.parse(readFileSync('server.json', 'utf8')) as Record<string, unknown>;

describe('server.json', () => {
  promiseTest('package/registry', 'server.json matches the schema of the registry', () => {
    expect(serverJson.safeParse(raw).error?.issues).toBeUndefined();
  });

  const wrong: [string, Record<string, unknown>][] = [
    ['no name', { name: undefined }],
    ['a name without a namespace', { name: 'colibri' }],
    ['a description over 100 characters', { description: 'x'.repeat(101) }],
    ['a range as its version', { version: '^0.1.0' }],
    ['latest as its version', { version: 'latest' }],
    ['the schema of another year', { $schema: String(raw['$schema']).replace('2025', '2024') }],
    ['a field that the schema does not know', { registry_type: 'npm' }],
    ['no package', { packages: [] }],
    ['a package without a transport', { packages: [{ registryType: 'npm', identifier: 'colibri-mcp' }] }],
  ];
  for (const [what, change] of wrong)
    promiseTest('package/registry', `the check refuses ${what}`, () => {
      expect(serverJson.safeParse({ ...raw, ...change }).success).toBe(false);
    });

  promiseTest('package/registry', 'name, version and repository match the package', () => {
    const { name, version, repository, packages } = serverJson.parse(raw);
    expect({ name, version }).toEqual({ name: MANIFEST['mcpName'], version: MANIFEST.version });
    expect(packages[0]).toMatchObject({ identifier: MANIFEST.name, version: MANIFEST.version });
    expect(MANIFEST['repository']).toEqual({ type: 'git', url: `git+${repository.url}.git` });
  });

  promiseTest('package/registry', 'the program accepts the listed variables, defaults and choices', () => {
    const variables = serverJson.parse(raw).packages.flatMap((entry) => entry.environmentVariables);
    const sources = readFileSync('src/config.ts', 'utf8');
    for (const { name } of variables) expect(sources).toContain(`'${name}'`);
    const named = Object.fromEntries(
      variables.flatMap((entry) => (entry.default ? [[entry.name, entry.default]] : [])),
    );
    expect(readConfig(named)).toEqual({ ...readConfig({}), dbPath: named['COLIBRI_DB_PATH'] });
    expect(variables.find(({ name }) => name === 'COLIBRI_MODE')?.choices).toEqual([...MODES]);
  });
});

describe('package.json', () => {
  promiseTest('package/registry', 'package.json has the fields that the registry requires', () => {
    expect(MANIFEST).toMatchObject({
      license: 'Apache-2.0',
      engines: { node: '>=20.19' },
      publishConfig: { access: 'public', provenance: true },
      keywords: expect.arrayContaining(['mcp', 'agents']),
    });
    expect(existsSync('LICENSE')).toBe(true);
    expect(MANIFEST).not.toHaveProperty('dependencies');
  });
});
