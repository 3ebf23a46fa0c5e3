import type { Reader } from '../../db/database.ts';
import { findLastTaskId } from '../../domains/tasks/board.ts';
import { findLastSessionNo } from '../../domains/trail/sessions.ts';
import { taskNumber } from '../../ids.ts';
import { readSize } from '../../ledger/head.ts';
import { readIdentity } from '../../trust/ledger-identity.ts';
import { CommandError } from '../support/command-result.ts';
import { addEverything, addMissing, addRelated, countAffected, type Wanted } from './choose-notes.ts';
import { LogReader, nothingAffected } from './log-summary.ts';
import { readNotes } from './read-notes.ts';
import { prepareFolders, writeNote } from './vault/folder.ts';
import { listGoneNotes } from './vault/gone-notes.ts';
import type { Note } from './vault/note-file.ts';
import { readState, readTail, type VaultState, writeState } from './vault/state.ts';

export interface ExportReport {
  /** Notes that the ledger has. */
  readonly notes: number;
  readonly written: number;
  readonly left_alone: readonly LeftAlone[];
}

/** A note that could not be written. */
interface LeftAlone {
  readonly path: string;
  readonly reason: string;
}

/** Brings the notes up to date with the ledger, each time that it is called. */
export type Exporter = (db: Reader) => Promise<ExportReport>;

/** Caches what it read of the log. After the signal it stops between two notes, and the next export resumes there. */
export function createExporter(root: string, signal: AbortSignal): Exporter {
  let log = new LogReader();
  return async (db) => {
    prepareFolders(root);
    const ledgerId = await readLedgerId(db);
    const size = await readSize(db);
    const state = readState(root);
    if (state !== undefined && state.ledger !== ledgerId) throw anotherLedger(root);
    const isContinued = state !== undefined && (await isPrefix(db, state, size));
    const wanted: Wanted = { ...nothingAffected(), index: false };
    if (isContinued) addMissing(root, state, wanted);
    if (isContinued && state.size === size && countAffected(wanted) === 0)
      return { notes: countNotes(state), written: 0, left_alone: [] };
    // A restored ledger can have other entries at the same places.
    if (!isContinued) log = new LogReader();
    await log.advance(db, size, isContinued ? state.size : 0, wanted);
    if (isContinued && !wanted.redactions) await addRelated(db, log, state.size, wanted);
    else await addEverything(db, log, wanted);
    const write = createWriter(root, ledgerId);
    for await (const note of readNotes(db, log, wanted)) {
      if (signal.aborted) break;
      write.add(note);
    }
    if (!isContinued && !signal.aborted) for (const note of listGoneNotes(root, ledgerId, wanted)) write.add(note);
    const next = await describeState(db, log, { ledger: ledgerId, size, leftAlone: write.leftAlone });
    if (!signal.aborted) writeState(root, next);
    return { notes: countNotes(next), written: write.written, left_alone: write.leftAlone };
  };
}

async function readLedgerId(db: Reader): Promise<string> {
  const identity = await readIdentity(db, 1);
  if (identity !== undefined) return identity.ledgerId;
  throw new CommandError('cannot tell', 'the first entry of the log has no ledger id', {
    advice: 'run colibri verify',
  });
}

function anotherLedger(root: string): CommandError {
  return new CommandError('bad input', `${root} has the notes of another ledger`, { advice: 'choose another folder' });
}

/** Whether the ledger still has the entries that the last export has read. */
async function isPrefix(db: Reader, state: VaultState, size: number): Promise<boolean> {
  return state.size <= size && (await readTail(db, state.size)) === state.tail;
}

function createWriter(root: string, ledgerId: string) {
  const leftAlone: LeftAlone[] = [];
  let written = 0;
  return {
    leftAlone,
    get written() {
      return written;
    },
    add: (note: Note): void => {
      const result = writeNote(root, note, ledgerId);
      if (result === 'written') written += 1;
      else if (typeof result === 'object') leftAlone.push({ path: note.path, reason: result.leftAlone });
    },
  };
}

async function describeState(
  db: Reader,
  log: LogReader,
  {
    ledger,
    size,
    leftAlone,
  }: { readonly ledger: string; readonly size: number; readonly leftAlone: readonly LeftAlone[] },
): Promise<VaultState> {
  return {
    ledger,
    size,
    tail: (await readTail(db, size)) ?? '',
    tasks: taskNumber((await findLastTaskId(db)) ?? ''),
    sessions: (await findLastSessionNo(db)) ?? 0,
    agents: [...log.agents.keys()],
    days: [...log.days.keys()],
    left_alone: leftAlone.map(({ path }) => path),
  };
}

/** The count includes the index note. */
function countNotes({ tasks, sessions, agents, days }: VaultState): number {
  return tasks + sessions + agents.length + days.length + 1;
}
