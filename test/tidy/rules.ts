import { findForeignImports } from './import-rules.ts';
import { findForbiddenWords, isPlainText } from './words.ts';

export interface Rule {
  readonly says: string;
  readonly appliesTo: (path: string) => boolean;
  /** Pure: what is wrong with a file of this path and text. */
  readonly findProblems: (path: string, text: string) => string[];
}

const MAX_LINES = 300;
const MAX_COLUMNS = 120;
const PRINTERS = new Set(['src/cli/support/print.ts', 'src/print-error.ts']);

const isCode = (path: string) =>
  /^(?:src|test|bench|torture|scripts|web)\/.*\.(?:ts|mts|js|mjs|sql|html|css)$/.test(path);
const isTest = (path: string) => path.endsWith('.test.ts');
const isSource = (path: string) => path.startsWith('src/') && isCode(path) && !isTest(path);

// Each pattern that names a forbidden word has brackets in it, so that the rule does not find itself.
export const RULES: readonly Rule[] = [
  { says: 'imports only what its layer may know', appliesTo: isCode, findProblems: findForeignImports },
  {
    says: `has at most ${MAX_LINES} lines`,
    appliesTo: isCode,
    findProblems: (_path, text) => {
      const lines = text.replace(/\n$/, '').split('\n').length;
      return lines > MAX_LINES ? [`has ${lines} lines`] : [];
    },
  },
  {
    // The formatter wraps code at this width, and leaves comments. A migration is never edited.
    says: `has no comment beyond column ${MAX_COLUMNS}`,
    appliesTo: (path) => isCode(path) && !/\.(?:html|sql)$/.test(path),
    findProblems: forbid(new RegExp(`^(?=.{${MAX_COLUMNS + 1}})[ \\t]*(?://|/?\\*).*`, 'gm')),
  },
  {
    says: 'has no default export',
    // Tools that load a file by its path want one, and so does the type of a file that is not code.
    appliesTo: (path) =>
      isCode(path) && !/\.d\.m?ts$/.test(path) && path !== 'scripts/test/vitest-summary-reporter.mjs',
    findProblems: forbid(/^\s*export\s+default\b|\bas\s+default\b/gm),
  },
  {
    says: 'has no type that turns checking off',
    appliesTo: (path) => isCode(path) && path.endsWith('ts'),
    findProblems: (path, text) => forbid(/(?:[:<,|&=]|\bas)\s*any\b(?!['"\w(])/g)(path, codeOf(text)),
  },
  {
    says: 'silences no checker',
    appliesTo: isCode,
    findProblems: forbid(/@ts-(?:[i]gnore|[n]ocheck|[e]xpect-error)|(?:biome-[i]gnore|(?:oxlint|eslint)-[d]isable)/g),
  },
  {
    says: 'leaves standard output to the protocol',
    appliesTo: (path) => isSource(path) && !path.startsWith('src/cli/'),
    findProblems: findOutput,
  },
  {
    says: 'writes to the terminal through print.ts and print-error.ts, which escape data',
    appliesTo: (path) => isSource(path) && !PRINTERS.has(path),
    findProblems: findPrinting,
  },
  {
    says: 'reads JSON by parseJson',
    appliesTo: (path) => isSource(path) && path !== 'src/integrity/parse-json.ts',
    findProblems: (path, text) =>
      forbid(/\bJSON\s*(?:\?\.|\.|\[\s*['"`])\s*parse\b|\bparse\b[^;{}]*\}\s*=\s*JSON\b|\.json\(\s*\)/g)(path, text),
  },
  {
    says: 'leaves the environment to config.ts',
    appliesTo: (path) => isSource(path) && path !== 'src/config.ts',
    findProblems: forbid(/\bprocess\s*\.\s*env\b|\benv\b[^;\n]*\bfrom 'node:process'/g),
  },
  {
    says: 'leaves writing tables to the domains and the ledger',
    // The demo forges a record to show that verification notices it.
    appliesTo: (path) => isSource(path) && path.startsWith('src/cli/') && path !== 'src/cli/demo/scenario.ts',
    findProblems: forbid(/\b(?:INSERT INTO|UPDATE [\w${}.[\]]+ SET|DELETE FROM)\b/g),
  },
  {
    says: 'speaks of the product, not of how it was made',
    appliesTo: (path) => isCode(path) && path !== 'test/promises-server.ts',
    findProblems: (path, text) => [
      ...forbid(/\b(?:[w]aves?|[s]prints?|[t]ickets?|[m]ilestones?)\b|\b(?:phase|round) \d/gi)(path, text),
      // In capitals only: `todo` is also the state of a task, and a task has four digits.
      ...forbid(/\b(?:[T]ODO|[F]IXME|[X]XX|[H]ACK)\b|\b[P]\d\.\d|\b[T]-\d{1,2}\b/g)(path, text),
    ],
  },
  {
    says: 'has no Greek letters, except in the ids of thoughts',
    appliesTo: isCode,
    findProblems: (path, text) =>
      forbid(/\p{Script=Greek}/gu)(path, text.replaceAll(path === 'src/ids.ts' ? '\u0398' : '\u0398-', '')),
  },
  {
    says: 'knows nothing of the machine it was written on',
    appliesTo: (path) => !path.endsWith('.md'),
    findProblems: forbid(
      /(?<![\w.}*])\/(?:[w]ork|[r]oot|[f]arm|[h]ome|[U]sers)\/|\b[r]egistry\.(?:npmjs|yarnpkg)\b|\b[v]erdaccio\b|\b[l]ocalhost:4873\b/g,
    ),
  },
  {
    says: 'runs all of its tests',
    appliesTo: isTest,
    findProblems: forbid(/\.(?:only|skip|todo)\b(?=\s*[.(`])|\bx(?:it|test|describe)\s*\(/g),
  },
  {
    says: 'locks versions, not hosts',
    appliesTo: (path) => path === 'package-lock.json',
    findProblems: forbid(/"resolved"\s*:/g),
  },
  {
    says: 'is not a barrel',
    appliesTo: (path) => isSource(path) && path.endsWith('.ts') && path !== 'src/integrity/index.ts',
    findProblems: findBarrel,
  },
  {
    says: 'has a name in kebab case that says its duty',
    appliesTo: isCode,
    findProblems: (path) => path.split('/').flatMap(findBadName),
  },
  { says: 'is written in plain words', appliesTo: isPlainText, findProblems: findForbiddenWords },
];

function forbid(pattern: RegExp): Rule['findProblems'] {
  return (_path, text) =>
    [...text.matchAll(pattern)].map((match) => `line ${lineOf(text, match.index)}: ${match[0].trim()}`);
}

function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

/** Without comments and texts, in which any word may stand; the lines stay where they are. */
function codeOf(text: string): string {
  const token = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;
  return text.replaceAll(token, (words) => words.replaceAll(/[^\n]/g, ' '));
}

const THE_PROTOCOL = 'new StdioTransport(process.stdin, process.stdout)';

/** The transport uses stdout, in one place. */
function findOutput(path: string, text: string): string[] {
  const rest = path === 'src/wire/stdio.ts' ? text.replace(THE_PROTOCOL, ' '.repeat(THE_PROTOCOL.length)) : text;
  return forbid(/\bconsole\s*\.\s*(?:log|info|debug|table|dir)\b|\bprocess\s*\.\s*stdout\b/g)(path, rest);
}

/** Any other way to standard output or standard error, and any control sequence that is written by hand. */
function findPrinting(path: string, text: string): string[] {
  const rest = path === 'src/wire/stdio.ts' ? text.replace(THE_PROTOCOL, ' '.repeat(THE_PROTOCOL.length)) : text;
  const ways = [
    String.raw`\bconsole\b\s*[.?[]`,
    String.raw`[=,(:]\s*console\b`,
    String.raw`\bprocess\s*[.?[\s'"\]]*\bstd(?:out|err)\b`,
    String.raw`\bstd(?:out|err)\b[^;]*\}\s*=\s*process\b`,
    String.raw`\{[^}]*\bstd(?:out|err)\b[^}]*\}\s*from\s*'(?:node:)?process'`,
    "'(?:node:)?console'|'picocolors'|'chalk'",
    String.raw`\bwriteSync\s*\(\s*[12]\b|\bfd\s*:\s*[12]\b|/dev/(?:std(?:out|err)|tty|fd/[12])\b`,
    String.raw`\bprocess\._rawDebug\b`,
    ...(path === 'src/terminal-text.ts' ? [] : [String.raw`\\(?:u001[bB]|x1[bB]|u\{1[bB]\}|u009[bB]|x9[bB])`]),
  ];
  return forbid(new RegExp(ways.join('|'), 'g'))(path, rest);
}

function findBarrel(path: string, text: string): string[] {
  if (/(?:^|\/)index\.ts$/.test(path)) return ['is an index file'];
  const rest = codeOf(text).replaceAll(/^\s*export\s+(?:type\s+)?(?:\*|\{[^}]*\})[^;]*\bfrom\b[^;]*;/gm, '');
  return rest.trim() === '' && text.trim() !== '' ? ['only passes on what others export'] : [];
}

const DUMPING_GROUNDS = /^(?:utils?|helpers?|lib|misc|common|shared)$/;

function findBadName(name: string): string[] {
  const [stem = ''] = name.split('.');
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+)*$/.test(name)) return [`${name} is not kebab case`];
  return DUMPING_GROUNDS.test(stem) ? [`${name} does not say what it is for`] : [];
}
