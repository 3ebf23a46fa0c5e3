import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { listDefinitions, SCHEMA_VERSION } from '../../src/db/migrate.ts';
import { APPLICATION_ID } from '../../src/db/sqlite/pragmas.ts';
import { listSchemaObjects } from '../../src/db/sqlite/schema.ts';
import { TASK_FIELDS } from '../../src/domains/tasks/fields/table.ts';
import { WORKFLOWS, type Workflow } from '../../src/domains/tasks/workflows.ts';
import {
  EXTRAS_FIELDS,
  OPTIONS_FIELDS,
  REDACTION_FIELDS,
  SESSION_FIELDS,
} from '../../src/integrity/content-grammar.ts';
import { DIGEST_LABELS } from '../../src/integrity/entry.ts';
import type { Fields } from '../../src/integrity/forms.ts';
import {
  commitKey,
  EMPTY_ROOT,
  ENTRY_GRAMMAR,
  formatVerifierKey,
  isCanonicalText,
  leafHash,
  nodeHash,
  OUTCOMES,
  PRIORITIES,
  saltedDigest,
  sha256,
  thoughtHash,
} from '../../src/integrity/index.ts';
import { OBSERVED_CONTENT } from '../../src/integrity/observed-grammar.ts';
import { openTestLedger } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/proof-format.md'), 'utf8');

/** The rows of the table with this header, as lists of cells. An empty first cell repeats the one above it. */
function tableOf(...header: readonly string[]): string[][] {
  const tables = page.split('\n\n').filter((block) => block.startsWith('|'));
  const rows = tables.map((table) => table.trimEnd().split('\n').map(cellsOf));
  const found = rows.find(([first]) => first?.join('|') === header.join('|'));
  if (found === undefined) throw new Error(`docs/proof-format.md has no table of ${header.join(', ')}`);
  let last = '';
  return found.slice(2).map(([first = '', ...cells]) => {
    last = first || last;
    return [last, ...cells];
  });
}

const cellsOf = (row: string) =>
  row
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());

/** What a cell has between backticks. */
const quoted = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text as string);

/** Field names with a `?` after those that are optional, by the first cell. */
function fieldsOf(...header: readonly string[]): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const [first, fields] of tableOf(...header)) {
    const [name = ''] = quoted(first);
    found[name] = [...(found[name] ?? []), ...quoted(fields)].toSorted();
  }
  return found;
}

const namesOf = (fields: Fields) =>
  Object.entries(fields)
    .map(([name, { optional }]) => (optional === true ? `${name}?` : name))
    .toSorted();

const COMMON = new Set(['v', 'kind', 'at', 'actor']);

describe('docs/proof-format.md', () => {
  promiseTest('format/page', 'the kinds of entries and their fields', () => {
    const kinds = Object.entries(ENTRY_GRAMMAR).map(([kind, fields]) => [
      kind,
      namesOf(fields).filter((name) => !COMMON.has(name)),
    ]);
    expect(fieldsOf('kind', 'field', 'form')).toEqual(Object.fromEntries(kinds));
  });

  promiseTest('format/page', 'the outcomes of calls', () => {
    const [, list = ''] = /An _outcome_ is (.*?)\.\n\n/s.exec(page) ?? [];
    expect(quoted(list)).toEqual(OUTCOMES);
  });

  promiseTest('format/page', 'the contents, their labels and their fields', () => {
    expect(tableOf('label', 'text', 'stored in').flatMap(([label]) => quoted(label))).toEqual(DIGEST_LABELS);
    const { 'observed.usage': usage, ...observed } = OBSERVED_CONTENT;
    expect(usage).toEqual({});
    const contents = {
      session: SESSION_FIELDS,
      extras: EXTRAS_FIELDS,
      options: OPTIONS_FIELDS,
      redaction: REDACTION_FIELDS,
      ...observed,
    };
    expect(fieldsOf('content', 'field', 'form')).toEqual(
      Object.fromEntries(Object.entries(contents).map(([content, fields]) => [content, namesOf(fields)])),
    );
  });

  promiseTest('format/page', 'the fields of a task and their columns', () => {
    const rows = tableOf('field', 'form', 'column of `tasks`');
    expect(rows.map(([field, , column]) => [quoted(field)[0], quoted(column)[0]])).toEqual(
      Object.entries(TASK_FIELDS)
        .map(([name, field]) => ['addedLater' in field ? `${name}?` : name, 'column' in field ? field.column : name])
        .toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1)),
    );
    expect(quoted(rows.find(([field]) => field === '`priority`')?.[1])).toEqual(PRIORITIES);
    const program = readFileSync(join(import.meta.dirname, '../../examples/verify.py'), 'utf8');
    const [, fields = ''] = /^TASK_FIELDS = "{3}([^"]*)"{3}$/m.exec(program) ?? [];
    const names = fields.split(/\s+/).map((field) => field.split(':')[0]);
    expect(names).toEqual(rows.map(([field]) => quoted(field)[0]));
  });

  promiseTest('format/page', 'the states of the workflows', () => {
    const states = Object.entries<Workflow>(WORKFLOWS).flatMap(([workflow, { entries, ready, held, transitions }]) =>
      Object.entries(transitions).map(([state, next]) => {
        const marks = [
          entries.includes(state) && 'entry',
          ready.includes(state) && 'ready',
          held.includes(state) && 'held',
        ];
        return [workflow, state, marks.filter((mark) => mark !== false), next];
      }),
    );
    expect(
      tableOf('workflow', 'state', 'marks', 'transitions to').map(([workflow, state, marks = '', next]) => [
        quoted(workflow)[0],
        quoted(state)[0],
        marks.split(', ').filter((mark) => mark !== ''),
        quoted(next),
      ]),
    ).toEqual(states);
  });

  promiseTest('format/page', 'what is canonical', () => {
    for (const [text, canonical] of tableOf('text', 'canonical', 'why'))
      expect(isCanonicalText(quoted(text)[0] ?? ''), text).toBe(canonical === 'yes');
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect([64, 65].map((depth) => isCanonicalText(nested(depth)))).toEqual([true, false]);
  });

  promiseTest('format/page', 'the tables, the version and the hash of the schema', async () => {
    const tables = listDefinitions('sqlite').flatMap((sql) => /^CREATE (?:VIRTUAL )?TABLE (\w+)/.exec(sql)?.[1] ?? []);
    const listed = page.split('\n## The ledger file\n')[1]?.match(/^- `\w+`:/gm) ?? [];
    expect(listed.flatMap(quoted).toSorted()).toEqual(tables.toSorted());
    const database = await openTestLedger();
    try {
      const objects = await database.read(listSchemaObjects);
      const texts = objects
        .toSorted((one, other) => (one.name < other.name ? -1 : 1))
        .flatMap(({ type, name, table, sql }) => [type, name, table, sql]);
      expect(page).toContain(`result is \`${sha256(texts.map((text) => `${text}\0`).join(''))}\``);
    } finally {
      await database.close();
    }
    expect(page).toContain(`A ledger of schema ${SCHEMA_VERSION} is`);
    expect(page).toContain(
      `\`PRAGMA application_id\` is ${APPLICATION_ID} (\`Coli\`), \`user_version\` is ${SCHEMA_VERSION},`,
    );
  });

  promiseTest('format/page', 'the test values', () => {
    const values = new Map(tableOf('of', 'is').map(([of = '', is]) => [of, quoted(is)[0]]));
    const thought = {
      task_id: 'T-0001',
      type: 'decision',
      content: 'because',
      previous_hash: null,
      recorded_at: '2026-04-08T22:15:30.000Z',
      recorded_by: 'alice',
    };
    const sha = '0123456789abcdef0123456789abcdef01234567';
    const publicKey = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';
    const key = { name: 'example.org/log', type: 'note', publicKey: Buffer.from(publicKey, 'hex') } as const;
    const [a, b, c] = ['a', 'b', 'c'].map(leafHash) as [string, string, string];
    expect(values).toEqual(
      new Map([
        ['root of no leaf', EMPTY_ROOT],
        ['leaf of the empty text', leafHash('')],
        ['leaf of `{"a":1}`', leafHash('{"a":1}')],
        ['root of the leaves of `a`, `b`, `c`', nodeHash(nodeHash(a, b), c)],
        [
          'digest of label `arguments`, salt `000102030405060708090a0b0c0d0e0f`, text `{}`',
          saltedDigest('arguments', '000102030405060708090a0b0c0d0e0f', '{}'),
        ],
        [`hash of the thought \`${JSON.stringify(thought)}\``, thoughtHash(thought)],
        [`\`key\` of \`observed.commit\` with sha \`${sha}\``, commitKey(sha)],
        [
          `verifier key of the name \`example.org/log\`, type 0x01, public key \`${publicKey}\``,
          formatVerifierKey(key),
        ],
      ]),
    );
  });
});
