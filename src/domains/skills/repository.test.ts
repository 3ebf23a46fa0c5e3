import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
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
    registry = createSkillRegistry({ folder: root, repository: folder }, (_level, _event, fields) =>
      logged.push(fields?.['defect']),
    );
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const put = (name: string, text = `---\nname: ${name}\ndescription: about ${name}\n---\n`, below = root) => {
    mkdirSync(join(below, name), { recursive: true });
    writeFileSync(join(below, name, 'SKILL.md'), text);
  };
  const names = () => registry.list().map(({ name }) => name);
  const defects = () => registry.defects().map(({ defect }) => defect);

  promiseTest('skills/fresh', 'lists no skills without a folder', () => {
    expect({ names: names(), defects: defects(), logged }).toEqual({ names: [], defects: [], logged: [] });
  });

  promiseTest(
    'skills/search',
    'shows the path from the root of the repository, or the whole path outside of it',
    () => {
      put('a');
      const listIn = (repository: string) => createSkillRegistry({ folder: root, repository }, () => undefined).list();
      expect(listIn(folder)).toMatchObject([{ path: 'skills/a/SKILL.md' }]);
      expect(listIn(root)).toMatchObject([{ path: 'a/SKILL.md' }]);
      expect(listIn(join(folder, 'other'))).toMatchObject([{ path: join(root, 'a', 'SKILL.md').split(sep).join('/') }]);
    },
  );

  promiseTest('skills/fresh', 'finds a folder created later', () => {
    names();
    put('late');
    expect(names()).toEqual(['late']);
  });

  promiseTest('skills/fresh', 'sorts by name and follows added and removed folders', () => {
    put('b');
    put('a');
    expect(names()).toEqual(['a', 'b']);
    put('c');
    rmSync(join(root, 'b'), { recursive: true });
    expect(names()).toEqual(['a', 'c']);
    rmSync(root, { recursive: true });
    expect(names()).toEqual([]);
  });

  promiseTest('skills/fresh', 'rereads a change of equal length with an older modification time', () => {
    const file = join(root, 'a', 'SKILL.md');
    const date = new Date('2026-01-01T00:00:00Z');
    put('a', '---\nname: a\ndescription: one\n---\n');
    utimesSync(file, date, date);
    expect(registry.list()[0]?.description).toBe('one');
    writeFileSync(file, '---\nname: a\ndescription: two\n---\n');
    utimesSync(file, date, date);
    expect(registry.list()[0]?.description).toBe('two');
  });

  promiseTest('skills/fresh', 'rereads a file that was replaced by another', () => {
    put('a', '---\nname: a\ndescription: one\n---\n');
    names();
    writeFileSync(join(root, 'a', 'new'), '---\nname: a\ndescription: two\n---\n');
    renameSync(join(root, 'a', 'new'), join(root, 'a', 'SKILL.md'));
    expect(registry.list()[0]?.description).toBe('two');
  });

  promiseTest('skills/health', 'reports each new defect once, and none after a fix', () => {
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
    promiseTest('skills/hostile', `refuses a link to ${name}`, () => {
      put('good');
      put('a', undefined, join(folder, 'elsewhere'));
      link();
      expect(names()).toEqual(['good']);
      expect(defects()).toEqual([defect]);
      expect(logged).toEqual([defect]);
    });

  promiseTest('skills/hostile', 'refuses a name that leads out of the folder', () => {
    put('a', '---\nname: ../a\ndescription: x\n---\n');
    expect({ names: names(), defects: defects().length }).toEqual({ names: [], defects: 1 });
  });

  promiseTest('skills/hostile', 'does not read a huge file', () => {
    put('a', `---\nname: a\ndescription: x\n---\n${'x'.repeat(256 * 1024)}`);
    expect(defects()).toEqual(['is larger than 262144 bytes']);
  });

  promiseTest('skills/hostile', 'skips a folder named SKILL.md', () => {
    mkdirSync(join(root, 'a', 'SKILL.md'), { recursive: true });
    expect(defects()).toEqual(['is not a regular file']);
  });

  promiseTest('skills/hostile', 'limits the number of folders', () => {
    for (let index = 0; index <= 1000; index += 1) put(`s${String(index).padStart(4, '0')}`);
    expect(names()).toHaveLength(1000);
    expect(defects()).toEqual(['has 1001 folders; only the first 1000 are listed']);
  });

  it('reports what is missing without an absolute path', () => {
    mkdirSync(join(root, 'empty'), { recursive: true });
    expect(defects()).toEqual(['has no SKILL.md']);
  });

  it('ignores files and hidden folders', () => {
    put('a');
    put('.git', 'nothing');
    writeFileSync(join(root, 'README.md'), 'skills');
    expect({ names: names(), defects: defects() }).toEqual({ names: ['a'], defects: [] });
  });

  it('reads a read-only file', () => {
    put('a');
    chmodSync(join(root, 'a', 'SKILL.md'), 0o400);
    expect(names()).toEqual(['a']);
  });
});
