import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { CLIENTS, type Launch } from './official-clients.ts';
import { createCall, playSession } from './whole-session.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const program = resolve('dist/colibri.cjs');

describe.each(CLIENTS)('%s', (what, revision, open) => {
  let folder: string;
  let launch: Launch;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'colibri-clients-'));
    const skill = join(folder, '.agents/skills/plan-work');
    mkdirSync(skill, { recursive: true });
    writeFileSync(join(skill, 'SKILL.md'), '---\nname: plan-work\ndescription: How to plan.\n---\nPlan.\n');
    launch = { command: process.execPath, args: [program], cwd: folder, env: { COLIBRI_KEY_PATH: 'none' } };
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  promiseTest('clients/whole-session', what, async () => {
    const client = await open(launch);
    expect(client).toMatchObject({ revision, serverVersion: version });
    const call = await createCall(client);
    expect(await playSession(call)).toMatch(/^[0-9a-f]{64}$/);
    expect((await call('skill_list', { search: 'plan' })).data).toMatchObject({ skills: [{ name: 'plan-work' }] });
    expect((await call('server_ping')).data).toMatchObject({ version, mode: 'FULL' });
    expect((await call('server_health')).data).toMatchObject({ status: 'ok', problems: [], tools: { registered: 14 } });
    await client.close();
    expect(verify(folder)).toMatchObject({ status: 0, report: { verdict: 'whole', problems: [] } });
  });

  promiseTest('brief/resources', what, async () => {
    const client = await open(launch);
    const call = await createCall(client);
    await call('task_create', { title: 'Parse dates', status: 'todo' });
    expect(await client.listResources()).toEqual({
      uris: ['colibri://brief'],
      templates: ['colibri://task/{id}'],
      prompts: ['brief', 'hand_over', 'audit_task'],
    });
    expect(await client.readResource('colibri://brief')).toMatchObject({
      contents: [{ uri: 'colibri://brief', mimeType: 'text/markdown', text: expect.stringContaining('claim T-0001') }],
    });
    expect(await client.readResource('colibri://task/T-0001')).toMatchObject({
      contents: [{ mimeType: 'application/json', text: expect.stringContaining('"title":"Parse dates"') }],
    });
    await expect(client.readResource('colibri://task/T-0002')).rejects.toMatchObject({ code: -32602 });
    expect(await client.getPrompt('audit_task', { task_id: 'T-0001' })).toMatchObject({
      messages: [{ role: 'user', content: { type: 'text', text: expect.stringContaining('audit_verify_chain') } }],
    });
    await client.close();
    expect(verify(folder)).toMatchObject({ status: 0, report: { size: 4 } });
  });

  promiseTest('clients/refusals', `${what}: wrong input gets an answer that fits its schema`, async () => {
    const client = await open(launch);
    const call = await createCall(client);
    const wrong: [string, Record<string, unknown>][] = [
      ['task_create', {}],
      ['task_create', { title: 'x', color: 'red' }],
      ['task_create', { title: 'x', status: 'done' }],
      ['task_get', { task_id: 'T-9999' }],
      ['task_update', { task_id: 'T-9999', status: 'done' }],
      ['task_list', { limit: 0 }],
      ['task_next_actions', { project: 'nowhere' }],
      ['thought_record', { task_id: 'T-9999', type: 'decision', content: 'why' }],
      ['thought_record_list', { task_id: 'T-9999' }],
      ['audit_session_start', { task_id: 'T-9999', auditor_id: 'me' }],
      ['audit_verify_chain', {}],
      ['merkle_finalize', { session_id: 'A-9999' }],
      ['merkle_root', { session_id: 'nothing' }],
      ['skill_list', { search: 7 }],
      ['server_ping', { loud: true }],
      ['server_health', { deep: true }],
    ];
    for (const [name, args] of wrong) {
      const { ok, data } = await call(name, args);
      expect(ok ? data['ok'] : false, name).toBe(false);
    }
    await expect(client.callTool('no_such_tool', {})).rejects.toThrow(/no_such_tool/);
    expect((await call('server_ping')).ok).toBe(true);
    await client.close();
    expect(verify(folder)).toMatchObject({ status: 0, report: { verdict: 'whole' } });
  });
});

function verify(cwd: string): { status: number | null; report: unknown } {
  const { status, stdout } = spawnSync(process.execPath, [program, 'verify', '--json'], { cwd, encoding: 'utf8' });
  return { status, report: JSON.parse(stdout) };
}
