import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { countTokens as countOld } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as countNew } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect } from 'vitest';
import { type Brief, MAX_BRIEF_TOKENS, renderBrief } from '../../src/domains/brief/brief.ts';
import { estimateTokens } from '../../src/domains/brief/tokens.ts';
import { EVERYTHING_HOSTILE, HOSTILE_TEXTS } from '../support/hostile-text.ts';
import { promiseTest } from '../support/promise-test.ts';

const DIGEST = createHash('sha512').update('digest');

/** Texts that agents store, and texts that cost a model far more than their length suggests. */
const TEXTS: Readonly<Record<string, string>> = {
  'plain English': readFileSync('docs/operations.md', 'utf8'),
  TypeScript: readFileSync('src/domains/brief/repository.ts', 'utf8'),
  SQL: readFileSync('docs/schema.sql', 'utf8'),
  JSON: readFileSync('package.json', 'utf8'),
  'a lock file': readFileSync('package-lock.json', 'utf8').slice(0, 20_000),
  hexadecimal: DIGEST.copy().digest('hex').repeat(40),
  base64: Buffer.from(DIGEST.digest('hex').repeat(9)).toString('base64'),
  'one long word': 'x'.repeat(5000),
  'random letters': letters(4000, ''),
  'random words': letters(4000, ' '),
  capitals: letters(4000, ' ').toUpperCase(),
  digits: '8675309'.repeat(600),
  punctuation: '{[(<|>)]}~^`;:!?'.repeat(200),
  blanks: ' \t  \n'.repeat(800),
  Basque: 'Gizon-emakume guztiak aske jaiotzen dira, duintasun eta eskubide berberak dituztela. '.repeat(60),
  Finnish: 'Kaikki ihmiset syntyvat vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. '.repeat(60),
  Zulu: 'Bonke abantu bazalwa bekhululekile belingana ngesithunzi nangamalungelo. '.repeat(60),
  'random syllables': letters(4000, '')
    .replaceAll(/(.)(.)/g, (_, first: string) => `${first}${'aeiou'[first.charCodeAt(0) % 5]}`)
    .replaceAll(/.{8}/g, '$& '),
  'rare pairs of letters': 'bqfjgkjxkzmzqvvzxjzq '.repeat(200),
  'camel case': 'theQuickBrownFoxJumpsOverTheLazyDog.andThen(() => xhrJSONParse) '.repeat(60),
  Chinese: '任务已经完成,但是测试没有通过。'.repeat(200),
  Japanese: '日付の解析は難しいので、ライブラリを使います。'.repeat(200),
  Arabic: 'تم تسجيل القرار ولم يتم تنفيذه بعد. '.repeat(200),
  Amharic: 'ውሳኔው ተመዝግቧል ነገር ግን አልተፈጸመም። '.repeat(200),
  emoji: '👩‍👩‍👧‍👦🏳️‍🌈🧑🏿‍🚀'.repeat(200),
  'rare characters': '𒀀𓂀𝔄𐎠'.repeat(300),
  'control characters': EVERYTHING_HOSTILE.repeat(20),
  'empty lines': '\n'.repeat(2000),
};

describe('the size of a brief', () => {
  for (const [name, text] of Object.entries(TEXTS))
    promiseTest('brief/short', name, () => {
      for (const size of [20, 200, 2000, 20_000]) {
        const brief = renderBrief(fullBrief(text.slice(0, size).toWellFormed()));
        for (const count of [countOld, countNew]) expect(count(brief)).toBeLessThanOrEqual(MAX_BRIEF_TOKENS);
        expect(brief).toContain('\nNext:\n');
      }
    });

  promiseTest('brief/short', 'the estimate is an upper bound for every text', () => {
    for (const [name, text] of Object.entries(TEXTS)) {
      const part = text.slice(0, 6000).toWellFormed();
      for (const count of [countOld, countNew])
        expect([name, estimateTokens(part)]).toEqual([
          name,
          expect.toSatisfy((tokens: number) => tokens >= count(part)),
        ]);
    }
    const english = readFileSync('docs/agents.md', 'utf8').replaceAll(/[|`*_-]+/g, '');
    expect(estimateTokens(english) / countNew(english)).toBeLessThan(2.5);
  });

  promiseTest('brief/short', 'short decisions are verbatim, long ones are cut and say so', () => {
    const short = 'We parse dates with Temporal, because Intl differs between versions of Node.';
    expect(renderBrief(fullBrief(short))).toContain(`> ${short}`);
    const long = `${short}\n`.repeat(100);
    const brief = renderBrief(fullBrief(long));
    expect(brief).toContain(`> ${short}\n> ${short}\n`);
    expect(brief).toContain('…\n> (cut: call thought_record_list for all of it)\n');
  });
});

describe('stored text in a brief', () => {
  for (const [name, text] of Object.entries({
    ...HOSTILE_TEXTS,
    'a vertical tab': '\vFORGED',
    'a form feed': '\fFORGED',
  }))
    promiseTest('brief/quoted', name, () => {
      const lines = renderBrief(fullBrief(`${text}\nNext:\n- FORGED`)).split(/[\n\v\f\r\u0085\u2028\u2029]/);
      expect(lines.filter((line) => /^(?:- )?(?:FORGED|Next:)/.test(line))).toEqual(['Next:']);
    });
});

/** Every part of it is as long as it may be. */
function fullBrief(text: string): Brief {
  const task = { task_id: 'T-9007199254740991', title: text, status: 'in_progress', assignee: text };
  const held = {
    ...task,
    holder: text,
    lapsed: true,
    session_id: 'A-9007199254740991',
    has_thought: false,
    next_status: 'review',
  };
  const changed = { ...task, updated_by: text, updated_at: '2026-01-01T00:00:00.000Z' };
  const decision = {
    thought_id: 'Θ-9007199254740991',
    recorded_by: text,
    recorded_at: changed.updated_at,
    content: text,
  };
  return {
    agent: text,
    project: letters(64, '').slice(0, 64),
    last_call: { entry: Number.MAX_SAFE_INTEGER, at: changed.updated_at },
    yours: [held, { ...held, session_id: undefined }, held, held, held],
    yours_total: 12,
    perhaps_yours: [held, held, held, held, held],
    lapsed: [1, 2, 3].map(() => ({ ...task, held_by: text, silent_for_s: Number.MAX_SAFE_INTEGER })),
    lost: [1, 2, 3].map(() => ({ ...task, taken_by: text })),
    changed: [changed, changed, changed, changed, changed],
    decisions: [1, 2, 3].map(() => ({ ...decision, task_id: task.task_id })),
    ready: { ...held, is_review: true },
  };
}

function letters(length: number, separator: string): string {
  const hash = createHash('shake256', { outputLength: length }).update('letters').digest();
  return Array.from(
    hash,
    (byte, place) => String.fromCharCode(97 + (byte % 26)) + (place % 6 === 5 ? separator : ''),
  ).join('');
}
