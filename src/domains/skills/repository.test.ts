import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { promiseTest } from '../../../test/support/promise-test.ts';
import { createSkillRegistry, type SkillRegistry } from './repository.ts';

describe('the skill registry', () => {
  let folder: string;
  let root: string;
  let registry: SkillRegistry;
  let logged: unknown[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'colibri-skills-'));
    root = join(folder, 'skills');
    logged = [];
    registry = createSkillRegistry(root, (_level, _event, fields) => logged.push(fields?.['defect']));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const put = (name: string, text = `---\nname: ${name}\ndescription: about ${name}\n---\n`, below = root) => {
    mkdirSync(join(below, name), { recursive: true });
    writeFileSync(join(below, name, 'SKILL.md'), text);
  };
  const names = () => registry.list().map(({ name }) => name);
  const defects = () => registry.defects().map(({ defect }) => defect);

  promiseTest('skills/fresh', 'no folder, no skills, no complaint', () => {
    expect({ names: names(), defects: defects(), logged }).toEqual({ names: [], defects: [], logged: [] });
  });

  promiseTest('skills/fresh', 'a folder that comes later is found', () => {
    names();
    put('late');
    expect(names()).toEqual(['late']);
  });

  promiseTest('skills/fresh', 'in the order of their names, one that appears, one that vanishes', () => {
    put('b');
    put('a');
    expect(names()).toEqual(['a', 'b']);
    put('c');
    rmSync(join(root, 'b'), { recursive: true });
    expect(names()).toEqual(['a', 'c']);
    rmSync(root, { recursive: true });
    expect(names()).toEqual([]);
  });

  promiseTest('skills/fresh', 'a change of the same length that sets its date back', () => {
    const file = join(root, 'a', 'SKILL.md');
    const date = new Date('2026-01-01T00:00:00Z');
    put('a', '---\nname: a\ndescription: one\n---\n');
    utimesSync(file, date, date);
    expect(registry.list()[0]?.description).toBe('one');
    writeFileSync(file, '---\nname: a\ndescription: two\n---\n');
    utimesSync(file, date, date);
    expect(registry.list()[0]?.description).toBe('two');
  });

  promiseTest('skills/fresh', 'a file put in its place', () => {
    put('a', '---\nname: a\ndescription: one\n---\n');
    names();
    writeFileSync(join(root, 'a', 'new'), '---\nname: a\ndescription: two\n---\n');
    renameSync(join(root, 'a', 'new'), join(root, 'a', 'SKILL.md'));
    expect(registry.list()[0]?.description).toBe('two');
  });

  promiseTest('skills/health', 'mended, broken, broken in another way', () => {
    put('a', 'nothing');
    put('b');
    expect(names()).toEqual(['b']);
    registry.defects();
    names();
    expect(logged).toEqual(['has no front matter between two lines of ---']);
    put('a');
    expect({ names: names(), defects: defects() }).toEqual({ names: ['a', 'b'], defects: [] });
    put('a', '---\nname: a\n---\n');
    expect(defects()).toHaveLength(1);
    expect(names()).toEqual(['b']);
    expect(logged).toHaveLength(2);
  });

  const LINKS: [string, () => void, string][] = [
    ['a folder', () => symlinkSync(join(folder, 'elsewhere', 'a'), join(root, 'a')), 'its folder is a symbolic link'],
    [
      'a file',
      () => {
        mkdirSync(join(root, 'a'));
        symlinkSync(join(folder, 'elsewhere', 'a', 'SKILL.md'), join(root, 'a', 'SKILL.md'));
      },
      'is a symbolic link',
    ],
    ['a folder within', () => symlinkSync('good', join(root, 'a')), 'its folder is a symbolic link'],
    ['nothing', () => symlinkSync('gone', join(root, 'a')), 'its folder is a symbolic link'],
    ['itself', () => symlinkSync('a', join(root, 'a')), 'its folder is a symbolic link'],
  ];
  for (const [name, link, defect] of LINKS)
    promiseTest('skills/hostile', `a link to ${name} is refused`, () => {
      put('good');
      put('a', undefined, join(folder, 'elsewhere'));
      link();
      expect(names()).toEqual(['good']);
      expect(defects()).toEqual([defect]);
      expect(logged).toEqual([defect]);
    });

  promiseTest('skills/hostile', 'a name that leads out of the folder is refused', () => {
    put('a', '---\nname: ../a\ndescription: x\n---\n');
    expect({ names: names(), defects: defects().length }).toEqual({ names: [], defects: 1 });
  });

  promiseTest('skills/hostile', 'a huge file is not read', () => {
    put('a', `---\nname: a\ndescription: x\n---\n${'x'.repeat(256 * 1024)}`);
    expect(defects()).toEqual(['is larger than 262144 bytes']);
  });

  promiseTest('skills/hostile', 'a folder in the place of the file', () => {
    mkdirSync(join(root, 'a', 'SKILL.md'), { recursive: true });
    expect(defects()).toEqual(['is not a regular file']);
  });

  promiseTest('skills/hostile', 'folders without number', () => {
    for (let index = 0; index <= 1000; index += 1) put(`s${String(index).padStart(4, '0')}`);
    expect(names()).toHaveLength(1000);
    expect(defects()).toEqual(['has 1001 folders; those after the first 1000 are left out']);
  });

  it('says what is missing, without a path of this machine', () => {
    mkdirSync(join(root, 'empty'), { recursive: true });
    expect(defects()).toEqual(['there is no SKILL.md']);
  });

  it('leaves files and hidden folders alone', () => {
    put('a');
    put('.git', 'nothing');
    writeFileSync(join(root, 'README.md'), 'skills');
    expect({ names: names(), defects: defects() }).toEqual({ names: ['a'], defects: [] });
  });

  it('reads a file that is for reading only', () => {
    put('a');
    chmodSync(join(root, 'a', 'SKILL.md'), 0o400);
    expect(names()).toEqual(['a']);
  });
});
