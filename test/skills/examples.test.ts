import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../support/folders.ts';
import { projectReport } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { ExamplePlayer, examplesIn } from './play-examples.ts';

/** In the order in which an agent would meet them: one story goes through all five. */
const SKILLS = ['plan-and-claim', 'record-decisions', 'proof-session', 'verify', 'hand-over'];

describe('the shipped skills', () => {
  promiseTest('skills/examples', 'all examples, in order, on one ledger', async () => {
    await playWhole(SKILLS.map(textOf));
  });

  it.each(SKILLS)('%s has examples, and every code that it announces is one of the product', (skill) => {
    const text = textOf(skill);
    expect(examplesIn(text).length).toBeGreaterThan(3);
    expect(text.match(/```/g)?.length).toBe(2 * examplesIn(text).length);
    for (const [code] of text.matchAll(/\bERR_[A-Z_]+\b/g))
      expect(readFileSync('src/integrity/outcomes.ts', 'utf8')).toContain(`'${code}'`);
  });

  it.each(SKILLS)('%s is short', (skill) => {
    expect(textOf(skill).length).toBeLessThan(4_000);
  });
});

describe('the guide for agents', () => {
  promiseTest('skills/examples', 'all examples of docs/agents.md', async () => {
    const text = readFileSync('docs/agents.md', 'utf8');
    expect(text.match(/```json/g)?.length).toBe(examplesIn(text).length);
    await playWhole([text]);
  });

  it.each([
    ['the skills', SKILLS.map(textOf).join('')],
    ['docs/agents.md', readFileSync('docs/agents.md', 'utf8')],
  ])('%s show a held, a taken and a lost claim', (_, text) => {
    const examples = examplesIn(text);
    const refusals = examples.map(({ refusal }) => refusal);
    expect(refusals).toEqual(expect.arrayContaining(['ERR_CLAIM_HELD', 'ERR_CLAIM_LOST']));
    expect(examples.map(({ shown }) => JSON.stringify(shown))).toContainEqual(expect.stringContaining('"taken_from"'));
  });
});

/** Plays the texts in order on one ledger and verifies all of it. */
async function playWhole(texts: readonly string[]): Promise<void> {
  const folder = tempFolder();
  const player = new ExamplePlayer(folder);
  for (const text of texts) await player.play(text);
  await player.close();
  expect((await projectReport(folder)).problems).toEqual([]);
}

function textOf(skill: string): string {
  return readFileSync(join('.agents/skills', `colibri-${skill}`, 'SKILL.md'), 'utf8');
}
