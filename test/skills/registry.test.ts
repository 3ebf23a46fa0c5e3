import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { openProgram } from '../init/init-project.ts';
import { tempFolder } from '../support/folders.ts';
import { projectReport } from '../support/ledger.ts';
import { call } from '../support/memory-server.ts';
import { promiseTest } from '../support/promise-test.ts';

interface Listed {
  readonly skills: { name: string; version: string; capabilities: string[]; path: string; description: string }[];
  readonly total_count: number;
}

async function list(client: Client, args: Record<string, unknown> = {}): Promise<Listed> {
  return (await call(client, 'skill_list', args)).data as Listed;
}

async function listNames(client: Client, args: Record<string, unknown> = {}): Promise<string[]> {
  return (await list(client, args)).skills.map(({ name }) => name.replace('colibri-', ''));
}

/** A server in a folder with the skills that are shipped. */
async function openShipped(env: Record<string, string> = {}) {
  const folder = tempFolder();
  cpSync('.agents', join(folder, '.agents'), { recursive: true });
  return { folder, ...(await openProgram(folder, env)) };
}

const ALL = ['hand-over', 'plan-and-claim', 'proof-session', 'record-decisions', 'verify'];

describe('skill_list', () => {
  promiseTest('skills/search', 'skill_list returns all fields of all files', async () => {
    const { folder, client } = await openShipped();
    const { skills, total_count } = await list(client);
    expect(total_count).toBe(5);
    expect(skills[4]).toEqual({
      name: 'colibri-verify',
      version: '1.0',
      description: expect.stringContaining('Use when you review a task') as string,
      capabilities: ['verification', 'review'],
      path: '.agents/skills/colibri-verify/SKILL.md',
    });
    await client.close();
    expect((await projectReport(folder)).problems).toEqual([]);
  });

  promiseTest('skills/search', 'filters by words of name or description, by capability, or both', async () => {
    const { client } = await openShipped();
    const found = await Promise.all(
      [
        {},
        { search: 'PROOF' },
        { search: 'merkle root' },
        { search: 'nowhere' },
        { search: '.*' },
        { capability: 'tasks' },
        { capability: 'task' },
        { capability: 'TASKS' },
        { capability: 'tasks', search: 'context runs out' },
        { capability: 'tasks', search: 'proof' },
      ].map((args) => listNames(client, args)),
    );
    expect(found).toEqual([
      ALL,
      ['proof-session'],
      ['proof-session', 'verify'],
      [],
      [],
      ['hand-over', 'plan-and-claim'],
      [],
      [],
      ['hand-over'],
      [],
    ]);
  });

  it.each([
    { search: '' },
    { search: 'x'.repeat(257) },
    { search: 1 },
    { capability: ['x'] },
    { name: 'x' },
    { search: null },
  ])('refuses %j', async (args) => {
    const { client } = await openShipped();
    expect((await call(client, 'skill_list', args)).error?.code).toBe('INVALID_PARAMS');
  });

  promiseTest('skills/fresh', 'a running server sees changed files', async () => {
    const { folder, client } = await openShipped();
    const root = join(folder, '.agents/skills');
    rmSync(join(root, 'colibri-verify'), { recursive: true });
    mkdirSync(join(root, 'mine'));
    writeFileSync(join(root, 'mine', 'SKILL.md'), '---\nname: mine\ndescription: x\ncapabilities: [tasks]\n---\n');
    expect(await listNames(client, { capability: 'tasks' })).toEqual(['hand-over', 'plan-and-claim', 'mine']);
    rmSync(root, { recursive: true });
    expect(await list(client)).toEqual({ skills: [], total_count: 0 });
  });

  promiseTest(
    'skills/health',
    'a skipped skill is reported with path and defect, and the others are listed',
    async () => {
      const { folder, client, log } = await openShipped();
      const root = join(folder, '.agents/skills');
      // The server looks once by itself when it starts; from here on it looks when it is asked.
      await listNames(client);
      mkdirSync(join(root, 'bad'));
      writeFileSync(join(root, 'bad', 'SKILL.md'), '---\nname: other\ndescription: x\n---\n');
      symlinkSync(join(root, 'colibri-verify'), join(root, 'linked'));
      for (let look = 0; look < 3; look += 1) expect(await listNames(client)).toEqual(ALL);
      const { data } = await call(client, 'server_health');
      expect(data).toMatchObject({
        status: 'ok',
        skills: {
          loaded: 5,
          skipped: [
            { path: '.agents/skills/bad/SKILL.md', defect: 'name: "other" must be the name of its folder, "bad"' },
            { path: '.agents/skills/linked/SKILL.md', defect: 'its folder is a symbolic link' },
          ],
        },
      });
      const skipped = () =>
        log.filter(({ event }) => event === 'skipped a skill').map(({ level, path }) => [level, path]);
      // The log takes another pipe than the answers.
      await expect.poll(skipped).toEqual([
        ['warn', '.agents/skills/bad/SKILL.md'],
        ['warn', '.agents/skills/linked/SKILL.md'],
      ]);
    },
  );

  promiseTest('skills/fresh', 'skills come from the configured folder in every mode with skill_list', async () => {
    const folder = tempFolder();
    cpSync('.agents/skills', join(folder, 'here'), { recursive: true });
    const { client } = await openProgram(folder, { COLIBRI_SKILLS_PATH: 'here', COLIBRI_MODE: 'TEST' });
    expect(await listNames(client)).toEqual(ALL);
  });
});
