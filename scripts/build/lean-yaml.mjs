// What the bundle leaves out of the parser of YAML: it reads the heads of skills, in which every scalar is text.
import { readFileSync } from 'node:fs';

/** Only what reads is reached: nothing here writes YAML. */
const withoutWriter = {
  name: 'without-yaml-writer',
  setup(bundler) {
    bundler.onLoad({ filter: /\/yaml\/browser\/dist\/stringify\/\w+\.js$/ }, ({ path }) => {
      const [, names] = /^export \{ ([\w, ]+) \};$/m.exec(readFileSync(path, 'utf8')) ?? [];
      if (names === undefined) throw new Error(`${path} has other exports`);
      const refusals = names.split(', ').map((name) => `export const ${name} = refuse;`);
      return { contents: `const refuse = () => { throw new Error('no YAML is written'); };\n${refusals.join('\n')}` };
    });
    // A collection as a key is the one thing that a reader writes; as JSON, it is as useless a name.
    edit(bundler, /\/yaml\/browser\/dist\/nodes\/addPairToJSMap\.js$/, [
      ['if (isNode(key) && ctx?.doc)', 'if (false)'],
    ]);
  },
};

/** The program asks for the failsafe schema without known tags (src/domains/skills/skill-file.ts): all text. */
const onlyFailsafe = {
  name: 'only-failsafe-yaml',
  setup(bundler) {
    edit(bundler, /\/yaml\/browser\/dist\/schema\/tags\.js$/, [
      ["['core', schema],", ''],
      ["['json', schema$1],", ''],
      ["['yaml11', schema$2],", ''],
      ["['yaml-1.1', schema$2]", ''],
      [/^const tagsByName = \{[^}]*\};$/m, 'const tagsByName = {};'],
      [/^const coreKnownTags = \{[^}]*\};$/m, 'const coreKnownTags = {};'],
      // Their modules create objects when they are loaded, so the bundler keeps what is imported and unused.
      [/^import .* from '\.\/(?:core|json)\/.*;\n/gm, ''],
      [/^import .* from '\.\/yaml-1\.1\/(?!merge).*;\n/gm, ''],
      [/^import .* from '\.\/common\/null\.js';\n/m, ''],
    ]);
  },
};

function edit(bundler, filter, changes) {
  bundler.onLoad({ filter }, ({ path }) => ({
    contents: changes.reduce(
      (code, [from, to]) => {
        const changed = code.replace(from, to);
        if (changed === code) throw new Error(`${path} has no ${from}`);
        return changed;
      },
      readFileSync(path, 'utf8'),
    ),
  }));
}

export const leanYaml = [withoutWriter, onlyFailsafe];
