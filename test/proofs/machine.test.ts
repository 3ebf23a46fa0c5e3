import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { SigningProject, seal } from './support.ts';

/** Variables with which Node runs this code before the program. */
function preload(project: SigningProject, code: string): Record<string, string> {
  const hook = project.path('before.cjs');
  writeFileSync(hook, `${code}\nrequire('node:module').syncBuiltinESMExports();`);
  return { ...project.env, NODE_OPTIONS: `--require ${JSON.stringify(hook)}` };
}

describe('signing', () => {
  promiseTest('witness/off', 'a server that seals and signs, and an export', async () => {
    const project = new SigningProject();
    const trace = project.path('connected');
    const env = preload(
      project,
      `const note = () => require('node:fs').writeFileSync(${JSON.stringify(trace)}, '');
       const { Socket } = require('node:net');
       const { connect } = Socket.prototype;
       Socket.prototype.connect = function (...args) { note(); return connect.apply(this, args); };
       const { fetch } = globalThis;
       globalThis.fetch = (...args) => { note(); return fetch(...args); };`,
    );
    const agent = await project.openAgent('alice', env);
    await agent.callTool({ name: 'task_create', arguments: { title: 'one' } });
    await seal(agent);
    await agent.close();
    expect(project.remembered()).toHaveLength(1);
    const exported = await project.runWith({ env }, 'export', '--all', '--out', project.path('bundle'));
    expect(exported).toMatchObject({ status: 0 });
    expect(existsSync(trace)).toBe(false);
    // The trace itself works.
    await project.colibri('witness', 'add', 'http://127.0.0.1:9', '--key', WITNESS_KEY);
    expect(await project.runWith({ env }, 'witness')).toMatchObject({ status: 2 });
    expect(existsSync(trace)).toBe(true);
  });

  promiseTest('bundle/since', 'the clock was set back after an entry that is in it', async () => {
    const project = new SigningProject();
    await project.colibri('add', 'one');
    const ahead = preload(
      project,
      `const { Date: Real } = globalThis;
       const now = () => Real.now() + 7_200_000;
       globalThis.Date = class extends Real {
         constructor(...args) { args.length === 0 ? super(now()) : super(...args); }
         static now() { return now(); }
       };`,
    );
    const time = new Date(Date.now() + 3_600_000).toISOString();
    await project.runWith({ env: ahead }, 'add', 'with a clock that is ahead');
    for (const title of ['two', 'three', 'four']) await project.colibri('add', title);
    const bundle = project.path('bundle');
    expect(await project.colibri('export', '--since', time, '--out', bundle)).toMatchObject({ status: 0 });
    const text = readFileSync(bundle, 'utf8');
    for (const title of ['with a clock that is ahead', 'two', 'four']) expect(text).toContain(title);
    expect(text).not.toContain('"one"');
  });

  promiseTest('checkpoint/signed', 'on a file system without hard links', async () => {
    const project = new SigningProject();
    const env = preload(
      project,
      `require('node:fs').linkSync = () => { throw Object.assign(new Error('no links'), { code: 'EPERM' }); };`,
    );
    for (const args of [['add', 'one'], ['key', 'rotate'], ['checkpoint']])
      expect(await project.runWith({ env }, ...args), args.join(' ')).toMatchObject({ status: 0 });
    expect(project.remembered()).toHaveLength(1);
    const names = readdirSync(join(project.config, 'colibri')).filter((name) => name.startsWith('signing-key'));
    expect(names.sort()).toEqual(['signing-key.pem', expect.stringContaining('.replaced')]);
  });
});

const WITNESS_KEY = 'witness.example/w1+aab2de37+BOkyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';
