import { describe, expect, it } from 'vitest';
import { promiseTest } from '../../../test/support/promise-test.ts';
import { parseSkill } from './skill-file.ts';

const parse = (front: string, folder = 'a-skill') => parseSkill(`---\n${front}\n---\nText.\n`, folder, 'path');
const REQUIRED = 'name: a-skill\ndescription: Does it. Use when needed.';

describe('a SKILL.md', () => {
  promiseTest('skills/format', 'needs only name and description', () => {
    expect(parse(REQUIRED)).toEqual({
      name: 'a-skill',
      description: 'Does it. Use when needed.',
      version: '0.0.0',
      capabilities: [],
      path: 'path',
    });
  });

  const VERSIONS: [string, string, string][] = [
    ['at the top', 'version: 2.1.0', '2.1.0'],
    ['under metadata', 'metadata:\n  version: "1.0"', '1.0'],
    ['at the top before metadata', 'version: 3\nmetadata:\n  version: 1', '3'],
    ['as it is written, not as a number', 'version: 1.10', '1.10'],
    ['in quotes', "version: '0x10'", '0x10'],
  ];
  for (const [name, front, version] of VERSIONS)
    promiseTest('skills/format', `reads a version ${name}`, () => {
      expect(parse(`${REQUIRED}\n${front}`).version).toBe(version);
    });

  const CAPABILITIES: [string, string][] = [
    ['a list at the top', 'capabilities: [plan, claim]'],
    ['a block list', 'capabilities:\n  - plan\n  - claim'],
    ['words under metadata', 'metadata:\n  capabilities: plan claim'],
    ['words with commas', 'metadata:\n  capabilities: plan, claim'],
    ['a list under metadata', 'metadata:\n  capabilities: [plan, claim]'],
    ['an alias', 'x: &x [plan, claim]\ncapabilities: *x'],
  ];
  for (const [name, front] of CAPABILITIES)
    promiseTest('skills/format', `reads capabilities as ${name}`, () => {
      expect(parse(`${REQUIRED}\n${front}`).capabilities).toEqual(['plan', 'claim']);
    });

  const ACCEPTED: [string, string][] = [
    ['Windows line ends', `---\r\n${REQUIRED.replace('\n', '\r\n')}\r\n---\r\nText.\r\n`],
    ['a byte order mark', `\uFEFF---\n${REQUIRED}\n---\n`],
    ['nothing after the front matter', `---\n${REQUIRED}\n---`],
    ['tabs between key and value', `---\nname:\ta-skill\ndescription:\tx\n---\n`],
    ['a folded description', `---\nname: a-skill\ndescription: >\n  over\n  lines\n---\n`],
    ['fields of other programs', `---\n${REQUIRED}\nlicense: MIT\nallowed-tools: Read\nx: {y: [1]}\n---\n`],
    ['lines of dashes in the text', `---\n${REQUIRED}\n---\nA\n---\nname: other\n---\n`],
    ['comments', `---\n# c\n${REQUIRED} # d\n---\n`],
  ];
  for (const [name, text] of ACCEPTED)
    promiseTest('skills/format', `accepts ${name}`, () => {
      expect(parseSkill(text, 'a-skill', 'path').name).toBe('a-skill');
    });

  const REFUSED: [string, string, RegExp][] = [
    ['no name', 'description: x', /^name: is missing$/],
    ['an empty name', 'name:\ndescription: x', /^name: must be/],
    ['no description', 'name: a-skill', /^description: is missing$/],
    ['a blank description', 'name: a-skill\ndescription: "  "', /^description: must not be empty/],
    ['a description that is a list', 'name: a-skill\ndescription: [x]', /^description: must be a text, not a list/],
    [
      'a long description',
      `name: a-skill\ndescription: ${'x'.repeat(1025)}`,
      /^description: has more than 1024 characters$/,
    ],
    ['a long compatibility', `${REQUIRED}\ncompatibility: ${'x'.repeat(501)}`, /^compatibility: /],
    ['an empty version', `${REQUIRED}\nversion: ""`, /^version: must not be empty/],
    ['a version that is a map', `${REQUIRED}\nversion: {a: b}`, /^version: must be a text, not an object$/],
    ['a long version under metadata', `${REQUIRED}\nmetadata:\n  version: ${'1'.repeat(65)}`, /^metadata\.version: /],
    [
      'too many capabilities',
      `${REQUIRED}\ncapabilities: ${'x '.repeat(51)}`,
      /^capabilities: has more than 50 items$/,
    ],
    ['a long capability', `${REQUIRED}\ncapabilities: ${'x'.repeat(65)}`, /^capabilities/],
    ['metadata that is a word', `${REQUIRED}\nmetadata: x`, /^metadata: /],
    ['a list instead of a map', '- name: a-skill', /^front matter: must be an object, not a list$/],
    ['a word instead of a map', 'hello', /^front matter: /],
    ['a key twice', `${REQUIRED}\nname: a-skill`, /unique/],
    ['a tab as indentation', `${REQUIRED}\nmetadata:\n\tversion: 1`, /[Tt]abs/],
    ['an open quote', 'name: "a-skill\ndescription: x', /quote/i],
    ['an alias of nothing', `${REQUIRED}\nversion: *x`, /alias/i],
  ];
  for (const [name, front, defect] of REFUSED)
    promiseTest('skills/format', `refuses ${name}`, () => {
      expect(() => parse(front)).toThrow(defect);
    });

  it.each(['A-skill', 'a_skill', '-a', 'a-', 'a--b', 'a b', 'a/b', '../a', 'ü', 'x'.repeat(65)])(
    'refuses the name %s',
    (name) => {
      expect(() => parse(`name: ${name}\ndescription: x`, name)).toThrow(/^name: must be/);
    },
  );

  it.each(['a', 'a1', '1-2-3', 'x'.repeat(64)])('takes the name %s', (name) => {
    expect(parse(`name: ${name}\ndescription: x`, name).name).toBe(name);
  });

  promiseTest('skills/format', 'refuses a name other than that of its folder', () => {
    expect(() => parse(REQUIRED, 'other')).toThrow('name: "a-skill" must be the name of its folder, "other"');
  });

  it.each([
    '',
    'Text.',
    `${REQUIRED}\n`,
    `---\n${REQUIRED}\n`,
    `\n---\n${REQUIRED}\n---\n`,
    '---\n---\n',
    '--- x\n---\n',
  ])('refuses a text without front matter: %j', (text) => {
    expect(() => parseSkill(text, 'a-skill', 'path')).toThrow(/has no front matter/);
  });

  const BOMB = `a: &a [x,x,x,x,x,x,x,x,x]\n${['b', 'c', 'd', 'e', 'f', 'g', 'h']
    .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefg'[index]}`).join(',')}]`)
    .join('\n')}`;
  const HOSTILE: [string, string, RegExp][] = [
    ['a bomb of aliases', `${REQUIRED}\n${BOMB}`, /alias/i],
    ['brackets without end', `${REQUIRED}\nx: ${'['.repeat(8_000)}`, /too deeply/],
    ['dashes without end', `${REQUIRED}\nx:\n${'- '.repeat(4_000)}`, /too deeply/],
    [
      'keys without end',
      `${REQUIRED}\n${Array.from({ length: 20_000 }, (_, index) => `k${index}: v`).join('\n')}`,
      /longer than/,
    ],
    ['two documents', `${REQUIRED}\n...\nname: b`, /./],
  ];
  for (const [name, front, defect] of HOSTILE)
    promiseTest('skills/hostile', name, () => {
      expect(() => parse(front)).toThrow(defect);
    });

  promiseTest('skills/hostile', '__proto__ and constructor as keys change no object', () => {
    expect(parse(`${REQUIRED}\n__proto__: {capabilities: [x]}\nconstructor: x`).capabilities).toEqual([]);
    expect(({} as Record<string, unknown>)['capabilities']).toBeUndefined();
  });

  promiseTest('skills/hostile', 'reads YAML tags as plain text', () => {
    expect(parse('name: a-skill\ndescription: !!js/function "x"').description).toBe('x');
    expect(parse('name: a-skill\ndescription: !!binary "eA=="').description).toBe('eA==');
  });
});
