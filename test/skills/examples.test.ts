import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../support/folders.ts';
import { openProgram } from '../support/init-project.ts';
import { projectReport } from '../support/ledger.ts';
import { call } from '../support/memory-server.ts';
import { promiseTest } from '../support/promise-test.ts';

/** In the order in which an agent would meet them: one story goes through all five. */
const SKILLS = ['plan-and-claim', 'record-decisions', 'proof-session', 'verify', 'hand-over'];

interface Example {
  readonly tool: string;
  readonly arguments: Record<string, unknown>;
  /** The code that the text announces; undefined: it succeeds. */
  readonly refusal: string | undefined;
}

describe('the shipped skills', () => {
  promiseTest('skills/examples', 'all examples, in order, on one ledger', async () => {
    const folder = tempFolder();
    const { client } = await openProgram(folder);
    for (const skill of SKILLS) {
      for (const example of examplesOf(skill)) {
        expect({ skill, ...example, refusal: await refusalOf(client, example) }).toEqual({ skill, ...example });
      }
    }
    await client.close();
    expect((await projectReport(folder)).problems).toEqual([]);
  });

  it.each(SKILLS)('%s has examples, and every code that it announces is one of the product', (skill) => {
    const text = textOf(skill);
    expect(examplesOf(skill).length).toBeGreaterThan(3);
    expect(text.match(/```/g)?.length).toBe(2 * examplesOf(skill).length);
    for (const [code] of text.matchAll(/\bERR_[A-Z_]+\b/g))
      expect(readFileSync('src/integrity/outcomes.ts', 'utf8')).toContain(`'${code}'`);
  });

  it.each(SKILLS)('%s is short', (skill) => {
    expect(textOf(skill).length).toBeLessThan(4_000);
  });
});

function textOf(skill: string): string {
  return readFileSync(join('.agents/skills', `colibri-${skill}`, 'SKILL.md'), 'utf8');
}

function examplesOf(skill: string): Example[] {
  return [...textOf(skill).matchAll(/```json\n([\s\S]+?)\n```\n(?:\nRefused: `(\w+)`)?/g)].map(([, json, refusal]) => ({
    ...(JSON.parse(json as string) as Omit<Example, 'refusal'>),
    refusal,
  }));
}

async function refusalOf(client: Client, { tool, arguments: args }: Example): Promise<string | undefined> {
  const { isError, text } = await call(client, tool, args);
  return isError ? (/"code":"(ERR_\w+)"/.exec(text)?.[1] ?? text) : undefined;
}
