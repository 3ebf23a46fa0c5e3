import type { VerifiedCheckpoint } from '../notes/checkpoint.ts';
import { findTimeStamp } from '../notes/time-stamp.ts';
import type { Finding, OpenedEntry } from './verify.ts';

/** Clocks differ. */
const MAX_AHEAD_MS = 600_000;

/** Whether a time stamping authority has seen it. Only a program that knows its certificates can check that. */
export function checkTimeStamp({ note }: VerifiedCheckpoint): Finding[] {
  if (findTimeStamp(note) === undefined) return [];
  return [{ about: 'stamp', holds: 'unknown', says: 'a time stamp (RFC 3161) is attached, and was not checked' }];
}

/** The witnesses that have seen the log of this checkpoint, and when. */
export function checkWitnesses(entries: readonly OpenedEntry[], checkpoint: VerifiedCheckpoint): Finding[] {
  const about = 'witnesses';
  const { witnesses, missing, quorum } = checkpoint;
  const seen = new Map(witnesses.map(({ key, time = 0 }) => [key, `${key.name} at ${describeTime(time)}`]));
  const by = seen.size === 0 ? '' : `cosigned by ${[...seen.values()].join(', ')}`;
  if (seen.size < quorum) {
    const names = missing.map(({ name }) => name).join(', ');
    const found = by === '' ? 'cosigned by none of the witnesses that you named' : by;
    return [{ about, holds: 'no', says: `${found}; ${quorum} must have cosigned, and ${names} did not` }];
  }
  if (by === '') return [{ about, holds: 'unknown', says: ALONE }];
  return [{ about, holds: 'yes', says: by }, ...checkClocks(entries, checkpoint)];
}

const ALONE = 'no known witness has cosigned: that others saw the same log rests on the key alone';

/** A witness signs after the entries were written, so that no entry can be younger. */
function checkClocks(entries: readonly OpenedEntry[], { witnesses }: VerifiedCheckpoint): Finding[] {
  const first = witnesses.reduce((left, right) => ((right.time ?? 0) < (left.time ?? 0) ? right : left));
  const limit = new Date(Math.min((first.time ?? 0) * 1000 + MAX_AHEAD_MS, MAX_TIME)).toISOString();
  const late = entries.find(({ fields }) => fields.at > limit);
  if (late === undefined) return [];
  const says = `entry ${late.index} states ${late.fields.at}, after ${first.key.name} saw it: a clock was wrong`;
  return [{ about: 'time', holds: 'unknown', says }];
}

/** The last moment that ISO 8601 writes with four digits of the year. */
const MAX_TIME = Date.UTC(9999, 11, 31);

/** Seconds since 1970; a witness may state any number. */
function describeTime(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? `second ${seconds}` : date.toISOString();
}
