import type { ThoughtRow } from '../domains/trail/repository.ts';
import { formatSessionId, formatTaskId, formatThoughtId, storedId } from '../ids.ts';
import {
  type Digest,
  type Entry,
  entryDefect,
  extrasDefect,
  REDACTED_TYPE,
  storedDigest,
  thoughtDefect,
  thoughtHash,
} from '../integrity/index.ts';
import { erasureDefect, type LoggedRedaction } from './redactions/finder.ts';

/** One defect of a chain. */
export interface BrokenLink {
  /** Its position in the task's chain or in the session; 0 for the session itself. */
  readonly position: number;
  readonly expected_hash: string;
  readonly actual_hash: string;
  readonly record: string;
  readonly layer: 'hash' | 'link' | 'entry' | 'log' | 'session';
  readonly problem: string;
}

export interface CheckedThought {
  readonly row: ThoughtRow;
  /** The thought before it in the chain of its task; undefined for the first. */
  readonly previous: { readonly hash: Digest; readonly chain_position: number } | undefined;
  /** The entry at the row's index; undefined if it is missing or unreadable. */
  readonly entry: Entry | undefined;
  readonly redaction: LoggedRedaction | undefined;
}

/** Checks everything about one thought except the tree above its entry. */
export function checkThought({ row, previous, entry, redaction }: CheckedThought): BrokenLink[] {
  const record = formatThoughtId(row.thought_no);
  const broken: BrokenLink[] = [];
  const expect = (layer: BrokenLink['layer'], problem: string, expected: unknown, actual: unknown) => {
    if (expected === actual) return;
    const [expected_hash, actual_hash] = [String(expected), String(actual)];
    broken.push({ position: row.chain_position, expected_hash, actual_hash, record, layer, problem });
  };
  const task_id = storedId(formatTaskId, row.task_no);
  if (redaction === undefined)
    expect('hash', 'its content does not give its hash', row.hash, thoughtHash({ ...row, task_id }));
  expect('link', 'it does not follow the record before it', previous?.hash ?? null, row.previous_hash);
  expect('link', 'its position does not follow', (previous?.chain_position ?? 0) + 1, row.chain_position);
  const say = (field: string, value: unknown) =>
    expect('entry', `its field ${field} differs from the log`, entry?.[field], value);
  say('kind', 'thought');
  say('at', row.recorded_at);
  say('actor', row.recorded_by);
  say('task_id', task_id);
  say('thought_id', record);
  say('hash', row.hash);
  if (redaction === undefined) say('extras', storedDigest('extras', row.salt, row.extras) ?? 'unreadable');
  say('chain_position', row.chain_position);
  say('attempt', row.attempt);
  say('session_id', storedId(formatSessionId, row.session_no));
  say('session_seq', row.session_seq);
  // The grammar would report a difference from the entry a second time.
  const refuse = (part: string, defect: string | undefined) => {
    if (!broken.some(({ layer }) => layer === 'entry'))
      expect('entry', `${part} breaks the grammar: it ${defect}`, undefined, defect);
  };
  if (redaction === undefined) {
    refuse('the record', thoughtDefect(row));
    refuse('its text of extras', typeof row.extras === 'string' ? extrasDefect(row.extras) : 'is not a text');
  } else {
    const defect = remainderOf(row, redaction);
    expect('entry', `it ${defect}`, undefined, defect);
  }
  refuse('its entry', entry && entryDefect(entry));
  return broken;
}

/** What is left of a thought that was redacted: its type is part of what was removed. */
function remainderOf({ type, content, extras, salt }: ThoughtRow, redaction: LoggedRedaction): string | undefined {
  if (type !== REDACTED_TYPE || content !== redaction.note)
    return `was redacted by entry ${redaction.index} and has text`;
  return erasureDefect('thought', redaction, { salt, content: extras });
}

/** 100 only if no record has a defect. */
export function integrityScore(total: number, defective: number): number {
  if (defective === 0) return 100;
  const share = total === 0 ? 0 : Math.floor((100 * Math.max(0, total - defective)) / total);
  return Math.min(share, 99);
}
