import {
  type BundledEntry,
  canonicalize,
  commitKey,
  type DigestLabel,
  type EntryKind,
  encodeEntry,
  formatVerifierKey,
  type Json,
  keyStatementText,
  leafHash,
  originOf,
  saltedDigest,
  thoughtHash,
} from '../../src/integrity/index.ts';
import { SignedLog } from '../proofs/fixtures/signed-log.ts';
import { signingKey } from '../support/signing-key.ts';
import { naiveRoot } from '../vectors/naive.ts';

const AT = '2026-04-08T22:15:30.000Z';
const SALT = '000102030405060708090a0b0c0d0e0f';
const LEDGER = '5f0c1d2e-3a4b-4c5d-8e6f-7a8b9c0d1e2f';
const ORIGIN = originOf(LEDGER);
const PROCESS = '00000000-0000-4000-8000-000000000001';

type Fields = Readonly<Record<string, Json>>;

/** An entry with the content that it has a digest of. */
export interface Recorded {
  readonly kind: EntryKind;
  readonly fields: Fields;
  readonly content?: { readonly field: string; readonly label: DigestLabel; readonly text: string };
  readonly thought?: { readonly type: string; readonly content: string; readonly previous_hash: string | null };
}

/** Every kind of entry once or twice, with every optional field, and the contents that exist. */
const LOG: readonly Recorded[] = [
  { kind: 'genesis', fields: { ledger_id: LEDGER } },
  { kind: 'key.added', fields: introduce(1) },
  { kind: 'key.added', fields: introduce(2, 1) },
  enter({ title: 'Strict parser', labels: ['red', 'é\u{1f426}'] }),
  {
    kind: 'task.created',
    fields: { task_id: 'T-0001', sessions: [] },
    content: { field: 'task', label: 'task', text: task('Strict parser') },
  },
  {
    kind: 'action.exit',
    fields: { sequence_no: 3, outcome: 'ok', duration_ms: 12, answer: saltedDigest('answer', SALT, '{}') },
  },
  {
    kind: 'session.started',
    fields: { session_id: 'A-0001', task_id: 'T-0001', scope: 'deep' },
    content: {
      field: 'session',
      label: 'session',
      text: canonicalize({ auditor_id: 'auditor', reason: 'before release' }),
    },
  },
  think(1, 'because', null),
  think(2, 'and so\ton', thoughtOf('because', null)),
  {
    kind: 'task.updated',
    fields: { task_id: 'T-0001', sessions: [{ session_id: 'A-0001', session_seq: 3 }] },
    content: { field: 'task', label: 'task', text: task('Strict parsers') },
  },
  { kind: 'session.finalized', fields: {} },
  {
    kind: 'project.options',
    fields: { actor: 'person:ada' },
    content: {
      field: 'options',
      label: 'options',
      text: canonicalize({ project: 'default', review: 'other', require_observed: ['npm test'] }),
    },
  },
  observed('observed', {
    client: 'claude-code',
    session: 's-1',
    event: 'PostToolUse',
    phase: 'after',
    client_version: '2.1',
    model: 'm',
    agent: 'a',
    tool: 'Bash',
    action: 'shell',
    call_id: 'c',
    outcome: 'ok',
    exit_code: 0,
    duration_ms: 3,
    task_id: 'T-0001',
    session_task: 'T-0001',
    agent_task: 'T-0001',
    claim: 4,
    input: '0'.repeat(64),
    output: '1'.repeat(64),
    content: {
      command: 'npm test',
      output: 'ok',
      exit_code: 0,
      cut: true,
    },
  }),
  observed('observed.commit', {
    sha: 'a'.repeat(40),
    tree: 'b'.repeat(40),
    parents: ['c'.repeat(40)],
    rewrites: 'd'.repeat(40),
    task_id: 'T-0001',
    key: commitKey('a'.repeat(40), 'd'.repeat(40)),
    content: {
      branch: 'main',
      paths: ['src/a.ts'],
    },
  }),
  observed('observed.coverage', {
    client: 'codex',
    session: 's-1',
    agent: 'a',
    seen: 3,
    recorded: 1,
    content: { missing: ['c-1', 'c-2'] },
  }),
  observed('observed.usage', {
    client: 'codex',
    session: 's-1',
    model: 'm',
    responses: 1,
    input_tokens: 2,
    output_tokens: 3,
    cache_read_tokens: 4,
    cache_write_tokens: 5,
    cache_write_1h_tokens: 6,
    task_id: 'T-0001',
    content: {},
  }),
  enter({ cut: true, length: 5000, sha256: '2'.repeat(64), start: 'é'.repeat(2048) }),
  { kind: 'action.interrupted', fields: { sequence_no: 16 } },
];

function task(title: string): string {
  return canonicalize({
    assignee: 'alice',
    attempt: 1,
    blocked_reason: null,
    created_at: AT,
    created_by: 'alice',
    depends_on: ['T-0002'],
    description: 'a\nb',
    estimate_hours: 2.5,
    holder: 'bob',
    labels: ['red'],
    parent_id: null,
    priority: 'high',
    progress: 10,
    project: 'default',
    sequence: 1,
    status: 'in_progress',
    taken_from: 'carol',
    task_id: 'T-0001',
    title,
    updated_at: AT,
    updated_by: 'alice',
    workflow: 'board',
  });
}

function introduce(number: number, replaces?: number): Fields {
  const [key, former] = [signingKey(number), replaces === undefined ? undefined : signingKey(replaces)];
  const named = {
    key: formatVerifierKey(key.verifierKey(ORIGIN)),
    ...(former && { replaces: formatVerifierKey(former.verifierKey(ORIGIN)) }),
  };
  const text = keyStatementText(named);
  return { ...named, signature: key.signText(text), ...(former && { replaces_signature: former.signText(text) }) };
}

function enter(args: Fields): Recorded {
  const content = { field: 'arguments', label: 'arguments', text: canonicalize(args) } as const;
  return { kind: 'action.enter', fields: { tool: 'task_create', process_id: PROCESS }, content };
}

function thoughtOf(content: string, previous_hash: string | null): string {
  const said = { task_id: 'T-0001', type: 'decision', content, previous_hash };
  return thoughtHash({ ...said, recorded_at: AT, recorded_by: 'alice' });
}

function think(position: number, content: string, previous_hash: string | null): Recorded {
  const place = { chain_position: position, session_seq: position, thought_id: `Θ-000${position}` };
  const extras = {
    branch: 'main',
    commit_sha: 'a'.repeat(40),
    tests_run: ['npm test'],
    blockers: [],
    metadata: { a: 1 },
  };
  return {
    kind: 'thought',
    fields: {
      ...place,
      task_id: 'T-0001',
      session_id: 'A-0001',
      attempt: 1,
      hash: thoughtOf(content, previous_hash),
    },
    content: { field: 'extras', label: 'extras', text: canonicalize(extras) },
    thought: { type: 'decision', content, previous_hash },
  };
}

function observed(kind: EntryKind, { content = {}, ...fields }: Fields): Recorded {
  return {
    kind,
    fields: { actor: 'hook:git', key: '3'.repeat(32), ...fields },
    content: { field: 'content', label: 'observed-content', text: canonicalize(content) },
  };
}

/** The log with one record replaced; digests, seal and signature are recomputed, as the owner of the key can. */
export function signLog(replaced?: { readonly index: number; readonly record: Recorded }): SignedLog {
  const entries: BundledEntry[] = [];
  for (const [index, honest] of LOG.entries()) {
    const record = index === replaced?.index ? replaced.record : honest;
    const { content, thought } = record;
    const entry = encodeEntry({
      v: 1,
      kind: record.kind,
      at: AT,
      actor: 'alice',
      ...(record.kind === 'session.finalized' && sealOf(entries)),
      ...record.fields,
      ...(content && { [content.field]: saltedDigest(content.label, SALT, content.text) }),
    });
    const disclosed = content && { salt: SALT, text: content.text, ...(thought && { thought }) };
    entries.push({ index, entry, ...(disclosed && { disclosed }) });
  }
  return new SignedLog(entries);
}

/** The seal of the first session, whose records are the thoughts and the update. */
function sealOf(entries: readonly BundledEntry[]): Fields {
  const records = entries.slice(7, 10).map(({ entry }) => entry);
  const { hash } = JSON.parse(records[1] ?? '{}') as { hash: string };
  const heads = [{ task_id: 'T-0001', chain_position: 2, hash }];
  return { session_id: 'A-0001', root: naiveRoot(records.map(leafHash)), leaf_count: 3, heads };
}

/** The records whose content a forger with the key can change. */
export const WITH_CONTENT = LOG.flatMap((record, index) => (record.content === undefined ? [] : [{ index, record }]));
