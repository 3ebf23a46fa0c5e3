import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, vi } from 'vitest';
import { hasBuiltInSqlite } from '../../src/db/sqlite/driver.ts';
import { listFiles, tempFolder } from '../support/folders.ts';
import { promiseTest } from '../support/promise-test.ts';
import { sample } from '../support/properties.ts';
import { openServer } from '../support/test-server.ts';

const SOURCES = listFiles('src', '.ts').filter((path) => !path.endsWith('.test.ts'));
const textOf = (path: string) => readFileSync(path, 'utf8');

describe('SQL', () => {
  promiseTest('security/sql', 'no statement has a part of an input in its text', () => {
    expect(SOURCES.flatMap((path) => findValuesInSql(textOf(path)).map((found) => `${path}: ${found}`))).toEqual([]);
    const withPart = (part: string) => `db.query(\`SELECT 1 FROM tasks WHERE title = $\{${part}}\`)`;
    expect(findValuesInSql(withPart('input.title'))).toEqual(['input.title']);
    expect(findValuesInSql(withPart('add(input.title)'))).toEqual([]);
  });

  promiseTest('security/sql', 'no value of a call is in the text of a statement that SQLite gets', async () => {
    const statements: string[] = [];
    const library = hasBuiltInSqlite(process.versions.node)
      ? (await import('../../src/db/sqlite/node-sqlite.ts')).nodeSqlite
      : (await import('../../src/db/sqlite/better-sqlite3.ts')).betterSqlite;
    const original = { ...library };
    const recorded =
      <Result>(run: (sql: string) => Result) =>
      (sql: string) => {
        statements.push(sql);
        return run(sql);
      };
    Object.assign(library, {
      open: (...args: Parameters<typeof library.open>) => {
        const driver = original.open(...args);
        return {
          ...driver,
          prepare: recorded((sql) => driver.prepare(sql)),
          exec: recorded((sql) => driver.exec(sql)),
        };
      },
    });
    try {
      const server = await openServer(`${tempFolder()}/colibri.db`, CANARY);
      const words = { title: CANARY, description: CANARY, labels: [CANARY], assignee: CANARY, project: CANARY };
      await server.createTask({ ...words, status: 'todo' });
      await server.startSession({ task_id: 'T-0001', auditor_id: CANARY, reason: CANARY });
      const thought = { content: CANARY, branch: CANARY, metadata: { [CANARY]: CANARY }, tests_run: [CANARY] };
      await server.recordThought({ task_id: 'T-0001', type: 'decision', ...thought });
      await server.updateTask({ task_id: 'T-0001', status: 'blocked', blocked_reason: CANARY });
      for (const filter of [{ search: CANARY }, { label: CANARY }, { assignee: CANARY }, { project: CANARY }])
        await server.listTasks({ ...filter, status: ['blocked'], limit: 7, offset: 0 });
      await server.refusal('task_get', { task_id: `T-0001' OR '${CANARY}` });
      await server.close();
    } finally {
      Object.assign(library, original);
    }
    expect(statements.length).toBeGreaterThan(50);
    expect(statements.filter((sql) => sql.includes(CANARY))).toEqual([]);
  });
});

const CANARY = 'canary-c0ffee';

/** Names of what a client sent, unless `add` binds it and leaves its number in the text. */
const OF_A_CLIENT = /\b(?:input|raw|params|value|content|title|taskId|sessionId|text|args)\b/;

function findValuesInSql(source: string): string[] {
  const statements = [...source.matchAll(/`((?:[^`\\]|\\.)*)`/g)].filter(([, text = '']) => SQL.test(text));
  return statements
    .flatMap(([, text = '']) => [...text.matchAll(/\$\{([^}]*)\}/g)].map(([, expression = '']) => expression))
    .filter((expression) => OF_A_CLIENT.test(expression.replaceAll(/\badd\([^)]*\)+/g, '')))
    .filter((expression) => !BUILDS_SQL.has(expression));
}

const SQL = /\b(?:SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM|PRAGMA \w+|ORDER BY|WHERE)\b/;
/** Functions that return SQL and bind what they are given. */
const BUILDS_SQL = new Set(['filter.source(keys, input)']);

describe('regular expressions', async () => {
  const built = await collectBuilt();
  const patterns = [
    ...new Map(
      [...SOURCES.flatMap((path) => listPatterns(textOf(path))), ...built].map((one) => [one.source + one.flags, one]),
    ).values(),
  ];

  promiseTest('security/patterns', 'those that are built from parts are among them', () => {
    const sources = built.map(({ source }) => source);
    expect(sources.filter((source) => source.includes('passphrase'))).not.toEqual([]);
    expect(sources.filter((source) => source.includes(String.raw`action\.exit`))).not.toEqual([]);
    expect(built.length).toBeGreaterThan(18);
  });

  promiseTest('security/patterns', 'no repeated group repeats inside, unless what follows it decides', () => {
    expect(patterns.length).toBeGreaterThan(100);
    expect(repeatsInside('(?:a+)+$')).toBe(true);
    expect(repeatsInside('(?:a|b*)*')).toBe(true);
    expect(repeatsInside('(?:ab)+[c+]*')).toBe(false);
    const undecided = patterns.map(({ source }) => source.replaceAll(ESCAPED_TEXT, 'x'));
    expect(undecided.filter((source) => repeatsInside(source) && !DECIDED.has(source))).toEqual([]);
  });

  promiseTest('security/patterns', 'long inputs cost each of them little more than their length', async () => {
    const slow = await runAway(sample(patterns, 400));
    expect(slow).toEqual([]);
    expect(await runAway([/a+$/])).toEqual(['/a+$/']);
  });
});

/** Seen to be harmless: each repetition begins with a character that the one inside cannot match. */
const DECIDED: ReadonlySet<string> = new Set([
  String.raw`^Message data:\n((?: +[0-9a-f]{4} - .*\n)+)`,
  String.raw`^(CREATE|DROP) (?:[A-Z]+ )*(\w+)`,
  String.raw`(?:\b(?:exit(?:ed|s)?|return(?:s|ed)?\s+code)(?:\s+(?:with|code|status))*|^\s*rc)\s*[:=]?\s*(\d{1,10})\b`,
  String.raw`^(INSERT INTO \w+ \([^)]*\)\s+VALUES )(\([^()]*\)(?:, \([^()]*\))*)$`,
]);

/** A text of JSON in an entry: an escape begins with a backslash, which the characters around it exclude. */
const ESCAPED_TEXT = String.raw`[ !#-[\]-\uffff]*(?:\\(?:["\\bfnrt]|u00(?:0[0-7bef]|1[0-9a-f]))[ !#-[\]-\uffff]*)*`;

/** What the modules build by `new RegExp` while they are loaded. */
async function collectBuilt(): Promise<RegExp[]> {
  const found: RegExp[] = [];
  const Original = RegExp;
  vi.resetModules();
  vi.stubGlobal(
    'RegExp',
    new Proxy(Original, {
      construct: (_target, [pattern, flags = '']: [string, string?]) => {
        const one = new Original(pattern, flags);
        if (typeof pattern === 'string' && new Error('where').stack?.includes('/src/') === true)
          found.push(new Original(pattern, flags.replaceAll(/[gy]/g, '')));
        return one;
      },
    }),
  );
  try {
    for (const path of SOURCES.filter((source) => textOf(source).includes('new RegExp('))) await import(resolve(path));
  } finally {
    vi.unstubAllGlobals();
    vi.resetModules();
  }
  return found;
}

function listPatterns(source: string): RegExp[] {
  const literal =
    /(?<=[=(,:!&|?{};[\n]\s*|return |=> )\/((?:[^/\\[\n*]|\\.|\[(?:[^\]\\\n]|\\.)*\])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])*)\/([dgimsuvy]*)/g;
  return [...source.matchAll(literal)].flatMap(([, pattern = '', flags = '']) => {
    try {
      return [new RegExp(pattern, flags.replaceAll(/[gy]/g, ''))];
    } catch {
      // A path or a division.
      return [];
    }
  });
}

/** Whether a group that repeats without limit has a part that does so too. */
function repeatsInside(pattern: string): boolean {
  const bare = pattern.replaceAll(/\\./g, 'x').replaceAll(/\[\^?\]?[^\]]*\]/g, 'x');
  const unlimited = String.raw`(?:[*+]|\{\d+,\})`;
  const groups = new RegExp(String.raw`\((?:\?(?::|<?[=!]|<\w+>))?[^()]*\)(${unlimited})?`);
  // Works from the innermost group outward; a group that repeats inside stays visible as a plus.
  for (let rest = bare; ; ) {
    const found = groups.exec(rest);
    if (found === null) return false;
    const hasRepetition = new RegExp(unlimited).test(found[0].slice(0, found[0].lastIndexOf(')')).replaceAll('(?', ''));
    if (hasRepetition && found[1] !== undefined) return true;
    rest =
      rest.slice(0, found.index) +
      (hasRepetition || found[1] !== undefined ? 'x+' : 'x') +
      rest.slice(found.index + found[0].length);
  }
}

const LENGTH = 60_000;
const PIECES_LENGTH = 20_000;
/** Processor time in milliseconds; what is linear needs a few, what is quadratic thousands. */
const LIMIT_MS = 500;

/** In a worker, because one that runs away can only be ended from outside. */
async function runAway(patterns: readonly RegExp[]): Promise<string[]> {
  const program = `
    const { parentPort, workerData } = require('node:worker_threads');
    for (const [index, pattern] of workerData.entries()) {
      parentPort.postMessage({ begun: index });
      const letters = [...new Set([...pattern.source.replace(/\\\\[a-z]/gi, ''), ...' a0/"-.\\n\\\\'])];
      for (const letter of letters) {
        const { user } = process.cpuUsage();
        pattern.test(letter.repeat(${LENGTH}) + '\\u0000');
        if (process.cpuUsage().user - user > ${LIMIT_MS} * 1000) parentPort.postMessage({ slow: index, letter });
      }
      // Pieces that the pattern itself has: what repeats them may match each in two ways.
      const plain = pattern.source
        .replace(/\\\\[sS]/g, ' ').replace(/\\\\[wd]/g, 'a').replace(/\\\\n/g, '\\n').replace(/\\\\(.)/g, '$1')
        .split(/\\(\\?[:=!<]+|[()?*+^$|]|\\{[\\d,]*\\}/);
      const pieces = [...new Set([...plain, ...plain.join('').match(/.{1,2}/gs) ?? []])].filter((piece) => piece.length > 1);
      for (const piece of pieces.slice(0, 12)) {
        const { user } = process.cpuUsage();
        pattern.test(piece.slice(0, 12).repeat(${PIECES_LENGTH} / Math.min(piece.length, 12)) + '\u0000');
        if (process.cpuUsage().user - user > ${LIMIT_MS} * 1000) parentPort.postMessage({ slow: index, piece });
      }
    }`;
  const slow = new Set<number>();
  let begun = 0;
  const worker = new Worker(program, { eval: true, workerData: patterns });
  worker.on('message', (message: { begun?: number; slow?: number }) => {
    begun = message.begun ?? begun;
    if (message.slow !== undefined) slow.add(message.slow);
  });
  let last = -1;
  const stuck = setInterval(() => {
    if (begun === last) {
      slow.add(begun);
      void worker.terminate();
    }
    last = begun;
  }, 5000);
  await new Promise((resolve) => worker.once('exit', resolve));
  clearInterval(stuck);
  return [...slow].map((index) => String(patterns[index]));
}
