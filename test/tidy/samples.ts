import { IMPORT_SAMPLES } from './import-samples.ts';

export type Sample = readonly [path: string, text: string];

export interface Samples {
  /** Part of what the rule says. */
  readonly says: RegExp;
  readonly bad: readonly Sample[];
  readonly good: readonly Sample[];
}

const PLAIN_FILES = [
  'src/ledger/append.ts',
  'src/ledger/append.test.ts',
  'src/db/postgres/url.ts',
  'test/support/ledger.ts',
  'README.md',
  'docs/trust.md',
  'web/model/records.ts',
  'web/page.html',
  'man/colibri.1',
  'examples/verify.py',
  'src/db/migrations/0001-ledger.sql',
];

/**
 * For each rule, in its order: what it must find, and what it must let be. `~` stands for nothing: it keeps the rules
 * from finding the samples.
 */
export const SAMPLES: readonly Samples[] = [
  IMPORT_SAMPLES,
  {
    says: /lines$/,
    bad: [['src/long.ts', 'x\n'.repeat(301)]],
    good: [
      ['src/long.ts', 'x\n'.repeat(300)],
      ['docs/long.md', 'x\n'.repeat(301)],
    ],
  },
  {
    says: /column 120$/,
    bad: [
      ['src/wide.ts', `// ${'x'.repeat(118)}\n`],
      ['src/wide.ts', `const a = 1;\n  /** ${'x'.repeat(112)} */\n`],
      ['test/wide.ts', `/**\n * ${'x'.repeat(118)}\n */\n`],
    ],
    good: [
      ['src/wide.ts', `// ${'x'.repeat(117)}\n`],
      ['src/wide.ts', `const a = '${'x'.repeat(200)}';\n`],
      ['docs/wide.md', `// ${'x'.repeat(200)}\n`],
      ['src/db/migrations/wide.sql', `-- ${'x'.repeat(118)}\n`],
    ],
  },
  {
    says: /default export/,
    bad: [
      ['src/a.ts', 'const a = 1;\nexport default a;'],
      ['src/a.ts', 'export { a as ~default };'],
    ],
    good: [
      ['vitest.config.ts', 'export default {};'],
      ['src/db/migrations/sql.d.ts', 'export default text;'],
      ['src/a.ts', `// no default export here\nexport const a = 'export default';`],
    ],
  },
  {
    says: /turns checking off/,
    bad: [
      ['src/a.ts', `const a: ~any = 1;`],
      ['src/a.ts', `const a = b as ~any;`],
      ['src/a.ts', `type A = Map<string, ~any>;`],
      ['test/a.test.ts', `type A = string | ~any[];`],
    ],
    good: [
      ['src/a.ts', '// as ~any honest record\nconst any = 1;'],
      ['src/a.ts', `it('writes it as ~any other', test)`],
      ['src/a.ts', 'expect.any(Number); const a = { b: many(1) };'],
    ],
  },
  {
    says: /silences/,
    bad: [
      `@ts-~ignore`,
      `@ts-~expect-error`,
      `biome-~ignore lint: no`,
      `oxlint-~disable`,
      `eslint-~disable-next-line`,
    ].map((word) => ['src/a.ts', `// ${word}\nconst a = 1;`] as const),
    good: [['src/a.ts', '// The linter ignores this.\n']],
  },
  {
    says: /standard output/,
    bad: [
      ['src/a.ts', `console.log('x')`],
      ['src/log.ts', `process.stdout.write('x')`],
      ['src/wire/stdio.ts', `const t = new StdioTransport(process.stdin, process.stdout);\n`.repeat(2)],
      ['src/server.ts', `process.stdout.write('x')`],
      ['src/server.ts', 'new StdioTransport(process.stdin, process.stdout)'],
    ],
    good: [
      ['src/wire/stdio.ts', 'const t = new StdioTransport(process.stdin, process.stdout);\n'],
      ['src/cli/main.ts', `console.log('help')`],
      ['src/a.ts', `console.error('x')`],
    ],
  },
  {
    says: /terminal/,
    bad: [
      ['src/cli/commands/verify.ts', `console.log(text)`],
      ['src/cli/commands/verify.ts', `console.error(text)`],
      ['src/log.ts', `console?.warn(text)`],
      ['src/cli/commands/verify.ts', `console['log'](text)`],
      ['src/cli/commands/verify.ts', `const { log } = console;`],
      ['src/server.ts', `const logger = options.logger ?? console.error;`],
      ['src/cli/commands/verify.ts', `process.stdout.write(text)`],
      ['src/cli/commands/verify.ts', `process . stderr.write(text)`],
      ['src/cli/commands/verify.ts', `process['stdout'].write(text)`],
      ['src/cli/commands/verify.ts', `const { stdout } = process;`],
      ['src/cli/commands/verify.ts', `import { stdout } from 'node:process';`],
      ['src/cli/commands/verify.ts', `import { argv, stderr } from 'process';`],
      ['src/cli/commands/verify.ts', `import { Console } from 'node:console';`],
      ['src/cli/commands/verify.ts', `import colors from 'picocolors';`],
      ['src/cli/commands/verify.ts', `writeSync(1, text)`],
      ['src/cli/commands/verify.ts', `createWriteStream('', { fd: 2 })`],
      ['src/cli/commands/verify.ts', `writeFileSync('/dev/stdout', text)`],
      ['src/cli/commands/verify.ts', `process._rawDebug(text)`],
      ['src/cli/views/board.ts', String.raw`const red = '\u001b[31m';`],
      ['src/cli/views/board.ts', String.raw`const red = '\x1B[31m';`],
      ['src/wire/stdio.ts', `const t = new StdioTransport(process.stdin, process.stdout);\n`.repeat(2)],
    ],
    good: [
      ['src/cli/support/print.ts', `console.log(toTerminal(lines))`],
      ['src/print-error.ts', `console.error(toTerminal(lines))`],
      ['src/wire/stdio.ts', 'const t = new StdioTransport(process.stdin, process.stdout);\n'],
      ['src/cli/demo/agent.ts', `createInterface({ input: server.stdout })`],
      ['src/cli/commands/verify.ts', `if (process.stdin.isTTY) print('the console')`],
      ['src/cli/verify.test.ts', `console.log(text)`],
      ['src/terminal-text.ts', String.raw`'\u001b[31m'`],
    ],
  },
  {
    says: /parseJson/,
    bad: [
      ['src/wire/stdio.ts', `return JSON.parse(line);`],
      ['src/cli/views/show-data.ts', `JSON . parse(text)`],
      ['src/cli/views/show-data.ts', `JSON?.parse(text)`],
      ['src/ledger/head.ts', `JSON['parse'](text)`],
      ['src/ledger/head.ts', `rows.map(JSON.parse)`],
      ['src/integrity/entry.ts', `const { parse } = JSON;`],
      ['src/a.ts', `await response.json()`],
    ],
    good: [
      ['src/integrity/parse-json.ts', `return JSON.parse(text);`],
      ['src/wire/stdio.ts', `return parseJson(line);`],
      ['src/wire/stdio.ts', `JSON.stringify(recordSchema.parse(value))`],
      ['src/wire/stdio.test.ts', `JSON.parse(line)`],
    ],
  },
  {
    says: /environment/,
    bad: [
      ['src/server.ts', `process.env['COLIBRI_MODE']`],
      ['src/cli/main.ts', `const { HOME } = process.env;`],
      ['src/a.ts', `import { env } from 'node:process';`],
    ],
    good: [
      ['src/config.ts', 'readConfig(env = process.env)'],
      ['src/server.test.ts', `process.env['PATH']`],
    ],
  },
  {
    says: /writing tables/,
    bad: [
      ['src/cli/redaction/redact-entry.ts', `db.send('INSERT INTO redactions (idx) VALUES ($1)')`],
      ['src/cli/redaction/redact-entry.ts', `db.send(\`UPDATE \${TABLE_OF[kind]} SET salt = $2\`)`],
      ['src/cli/commands/verify.ts', `db.query('DELETE FROM tasks')`],
    ],
    good: [
      ['src/cli/commands/verify.ts', `db.query('SELECT idx FROM redactions')`],
      ['src/domains/redaction/repository.ts', `db.send('DELETE FROM task_labels WHERE task_no = $1')`],
    ],
  },
  {
    says: /how it was made/,
    bad: [
      `TO~DO: later`,
      `FIX~ME`,
      `XX~X`,
      `HA~CK`,
      `wa~ve H`,
      `sp~rint 3`,
      `tick~et 12`,
      `phase ~0`,
      `round ~75`,
      `P~0.2.1`,
      `as T-~14 says`,
    ].map((words) => ['src/a.ts', `// ${words}\n`] as const),
    good: [
      ['src/a.ts', '// The second phase; T-0042 is todo. It went round. hackathon, waved, XXXL\n'],
      ['docs/a.md', `TO~DO`],
    ],
  },
  {
    says: /Greek/,
    bad: [
      ['src/a.ts', '// the \u03b1 core'],
      ['src/domains/tasks/tools.ts', `const id = '\u0398';`],
      ['src/domains/trail/tools.ts', `const id = '\u0398';`],
    ],
    good: [
      ['test/tasks/trail.test.ts', `const id = '\u0398-0001';`],
      ['src/ids.ts', `const letter = '\u0398';`],
      ['src/a.ts', '// 5 \u00b5s, gr\u00fc\u00dfe'],
    ],
  },
  {
    says: /machine/,
    bad: [
      ['package.json', `"/~work/main"`],
      ['scripts/a.mjs', `cd /~root/x`],
      ['.ci/run', `ls /~farm/x`],
      ['src/a.ts', `'/~home/someone/x'`],
      ['package-lock.json', `"https://regis~try.npmjs.org/zod"`],
      ['.npmrc', `regis~try=http://local~host:4873`],
    ],
    good: [
      ['docs/a.md', `/~work/main`],
      ['src/a.ts', `'./~work/x' + 'net~work/x' + '/workers/'`],
    ],
  },
  {
    says: /all of its tests/,
    bad: [`it.~only('x')`, `describe.~skip('x')`, `it.~todo('x')`, `it.~skip.each([])('x')`, `x~it('x')`].map(
      (text) => ['src/a.test.ts', text] as const,
    ),
    good: [
      ['src/a.test.ts', `it('only skips')`],
      ['src/a.ts', `cursor.~skip(5)`],
    ],
  },
  {
    says: /hosts/,
    bad: [['package-lock.json', '"resolved": "https://x/y.tgz"']],
    good: [['package-lock.json', '"integrity": "x"']],
  },
  {
    says: /barrel/,
    bad: [
      ['src/domains/tasks/index.ts', 'export const a = 1;'],
      [
        'src/a.ts',
        `/** All of it. */\nexport * from './b.ts';\nexport {\n  c,\n  d,\n} from './c.ts';\nexport type { E } from './e.ts';\n`,
      ],
    ],
    good: [
      ['src/integrity/index.ts', `export * from './merkle.ts';`],
      ['src/a.ts', `export { b } from './b.ts';\nexport const c = 1;\n`],
    ],
  },
  {
    says: /kebab/,
    bad: [
      ['src/ledgerHead.ts', ''],
      ['src/Ledger.ts', ''],
      ['src/ledger_head.ts', ''],
      ['src/utils/time.ts', ''],
      ['test/support/helpers.ts', ''],
    ],
    good: [
      ['src/db/migrations/0001-ledger.sql', ''],
      ['src/integrity/sha256.browser.ts', ''],
      ['docs/README.md', ''],
    ],
  },
  {
    says: /plain words/,
    bad: [
      '// How to me~nd it.',
      '// It would wait for ~ever.',
      '/** Who~ever asks. */',
      '// No~body honest stores this.',
      '// Some~body changed it.',
      '// Two rows, of ~which one is new.',
      '// The client is ~told so.',
      '/** For ~who appends. */',
      '/** Wh~o appends meets the failure. */',
      '// Those ~there are.',
      '// A round trip is ~dear.',
      '// The old name is action~-log.',
      'const odd~ities = 1;',
    ].flatMap((words) => PLAIN_FILES.map((path) => [path, words] as const)),
    good: [
      ['src/ledger/append.ts', '// The caller fixes it. Amend, commend. Who can write the file? It stays forever.'],
      ['CHANGELOG.md', '`me~nd` is now `fix`'],
    ],
  },
];
