import type { ForgedEvent, Loose } from './event.ts';
import { type Forging, patched, type RuleBreaker, without } from './forging.ts';

type Pick = (ledger: Forging) => ForgedEvent;

const PICKS = {
  genesis: (ledger) => ledger.find('genesis'),
  'action.enter': (ledger) => ledger.find('action.enter', {}, 2),
  'action.exit': (ledger) => ledger.find('action.exit', {}, 2),
  'action.interrupted': (ledger) => ledger.find('action.interrupted'),
  'task.created': (ledger) => ledger.find('task.created', { task_id: 'T-0002' }),
  'task.updated': (ledger) => ledger.find('task.updated', { task_id: 'T-0002' }),
  'session.started': (ledger) => ledger.find('session.started'),
  thought: (ledger) => ledger.find('thought'),
  'session.finalized': (ledger) => ledger.find('session.finalized'),
  'project.options': (ledger) => ledger.find('project.options'),
  'key.added': (ledger) => ledger.find('key.added', {}, 1),
  observed: (ledger) => ledger.find('observed', { tool: 'Bash' }),
  'observed.commit': (ledger) => ledger.find('observed.commit'),
  'observed.coverage': (ledger) => ledger.find('observed.coverage'),
  'observed.usage': (ledger) => ledger.find('observed.usage'),
} satisfies Record<string, Pick>;

type Kind = keyof typeof PICKS;

const MISSING: readonly (readonly [Kind, string])[] = [
  ['genesis', 'ledger_id'],
  ['action.enter', 'process_id'],
  ['action.enter', 'tool'],
  ['action.enter', 'arguments'],
  ['action.exit', 'answer'],
  ['action.exit', 'outcome'],
  ['action.exit', 'duration_ms'],
  ['action.interrupted', 'sequence_no'],
  ['task.created', 'task'],
  ['task.updated', 'sessions'],
  ['session.started', 'session'],
  ['session.started', 'scope'],
  ['thought', 'extras'],
  ['thought', 'hash'],
  ['session.finalized', 'heads'],
  ['project.options', 'options'],
  ['key.added', 'key'],
  ['key.added', 'signature'],
  ['key.added', 'replaces'],
  ['key.added', 'replaces_signature'],
  ['observed', 'session'],
  ['observed', 'key'],
  ['observed.commit', 'tree'],
  ['observed.coverage', 'recorded'],
  ['observed.usage', 'model'],
  ['observed.usage', 'cache_read_tokens'],
];

const HASH = 'ab'.repeat(32);
/** The example of C2SP signed-note. */
const FOREIGN_KEY = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';

const WRONG: readonly (readonly [Kind, name: string, Loose])[] = [
  ['genesis', 'a ledger_id that is no UUID', { ledger_id: 'my-ledger' }],
  ['genesis', 'a ledger_id in capitals', { ledger_id: 'DE305D54-75B4-431B-ADB2-EB6B9E546014' }],
  ['genesis', 'a ledger_id that is not random', { ledger_id: 'de305d54-75b4-131b-adb2-eb6b9e546014' }],
  ['genesis', 'the time "yesterday"', { at: 'yesterday' }],
  ['action.enter', 'a time without milliseconds', { at: '2026-04-08T22:00:00Z' }],
  ['action.enter', 'a time with an offset', { at: '2026-04-08T22:00:00.000+00:00' }],
  ['action.enter', 'the thirtieth of February', { at: '2026-02-30T22:00:00.000Z' }],
  ['action.enter', 'the hour 24', { at: '2026-04-08T24:00:00.000Z' }],
  ['action.exit', 'a leap second', { at: '2026-04-08T22:00:60.000Z' }],
  ['action.exit', 'an empty time', { at: '' }],
  ['action.enter', 'a process_id that is a path', { process_id: '../../elsewhere' }],
  ['action.enter', 'an empty process_id', { process_id: '' }],
  ['action.enter', 'a process_id that is a name', { process_id: 'someone' }],
  ['action.enter', 'a tool that is a number', { tool: 7 }],
  ['action.enter', 'an actor that is a number', { actor: 7 }],
  ['action.exit', 'another version of the format', { v: 2 }],
  ['action.enter', 'arguments in capitals', { arguments: HASH.toUpperCase() }],
  ['action.exit', 'an answer that is not hexadecimal', { answer: 'z'.repeat(64) }],
  ['action.exit', 'an answer in capitals', { answer: HASH.toUpperCase() }],
  ['action.exit', 'an answer that is too short', { answer: HASH.slice(2) }],
  ['action.exit', 'an answer that is null', { answer: null }],
  ['action.exit', 'an unknown outcome', { outcome: 'splendid' }],
  ['action.exit', 'the outcome of an interruption', { outcome: 'interrupted' }],
  ['action.exit', 'an outcome in capitals', { outcome: 'OK' }],
  ['action.exit', 'a negative duration', { duration_ms: -1 }],
  ['action.interrupted', 'the fields of an exit', { outcome: 'ok', duration_ms: 0, answer: HASH }],
  ['task.created', 'a digest that is not a digest', { task: 'nothing' }],
  ['task.created', 'sessions that are not a list', { sessions: {} }],
  [
    'task.updated',
    'one session twice',
    { sessions: [2, 99].map((session_seq) => ({ session_id: 'A-0001', session_seq })) },
  ],
  ['task.updated', 'a place of no number', { sessions: [{ session_id: 'A-0001', session_seq: 0 }] }],
  ['task.updated', 'a place with a note', { sessions: [{ session_id: 'A-0001', session_seq: 2, note: '' }] }],
  ['session.started', 'an unknown scope', { scope: 'wide' }],
  ['session.started', 'a digest in capitals', { session: HASH.toUpperCase() }],
  ['thought', 'a digest of extras that is not a digest', { extras: '' }],
  [
    'session.finalized',
    'heads with a note',
    { heads: [{ task_id: 'T-0002', chain_position: 1, hash: HASH, note: 1 }] },
  ],
  ['session.finalized', 'a root in capitals', { root: HASH.toUpperCase() }],
  ['project.options', 'an agent as its actor', { actor: 'claude-code' }],
  ['project.options', 'a digest in capitals', { options: HASH.toUpperCase() }],
  ['key.added', 'a key of another log', { key: FOREIGN_KEY }],
  ['key.added', 'a key without an id', { key: FOREIGN_KEY.replace('+530d903a', '') }],
  ['key.added', 'a signature of other bytes', { signature: `${'A'.repeat(86)}==` }],
  ['key.added', 'a signature by another key over the replaced one', { replaces_signature: `${'B'.repeat(85)}A==` }],
  ['key.added', 'a replaced key that the log does not have', { replaces: FOREIGN_KEY }],
  ['observed', 'an agent as its actor', { actor: 'claude-code' }],
  ['observed', 'a phase that there is not', { phase: 'during' }],
  ['observed', 'an exit code that is a text', { exit_code: '0' }],
  ['observed', 'an outcome that there is not', { outcome: 'passed' }],
  ['observed', 'a session that is empty', { session: '' }],
  ['observed.commit', 'a commit that is not a hash', { sha: 'main' }],
  ['observed.commit', 'the key of another commit', { key: 'f'.repeat(32) }],
  ['observed.commit', 'one parent twice', { parents: [HASH, HASH] }],
  ['observed.coverage', 'a negative count', { seen: -1 }],
  ['observed.coverage', 'more recorded calls than there were', { recorded: 5 }],
  ['observed.coverage', 'other counts than its missing calls', { recorded: 2 }],
  ['observed.coverage', 'an agent as its actor', { actor: 'claude-code' }],
  ['observed.usage', 'a negative count', { output_tokens: -1 }],
  ['observed.usage', 'half a token', { input_tokens: 0.5 }],
  ['observed.usage', 'an amount of money', { cost: 1 }],
  ['observed.usage', 'an empty model', { model: '' }],
  ['observed.usage', 'an agent as its actor', { actor: 'codex' }],
];

/** Entries that are not of their grammar. */
export const ENTRY_BREAKERS: readonly RuleBreaker[] = [
  ...Object.entries<Pick>(PICKS).map(([kind, pick]) => ({
    name: `${kind} with a field more`,
    breaks: (ledger: Forging) => patched(pick(ledger), { note: 'more' }),
  })),
  ...MISSING.map(([kind, field]) => ({
    name: `${kind} without ${field}`,
    breaks: (ledger: Forging) => without(PICKS[kind](ledger), field),
  })),
  ...WRONG.map(([kind, name, change]) => ({
    name: `${kind} with ${name}`,
    breaks: (ledger: Forging) => patched(PICKS[kind](ledger), change),
  })),
];
