import type { Reader } from '../../db/database.ts';
import { readAgentNote } from './agent-note.ts';
import type { Wanted } from './choose-notes.ts';
import { readDayNote } from './day-note.ts';
import { readIndexNote } from './index-note.ts';
import type { LogSummary } from './log-summary.ts';
import { readSessionNote } from './session-note.ts';
import { readTaskNote } from './task-note.ts';
import type { Note } from './vault/note-file.ts';

/** Yields one note after the other, so that any number of them needs the memory of one. */
export async function* readNotes(db: Reader, log: LogSummary, wanted: Wanted): AsyncGenerator<Note, void> {
  for (const task of wanted.tasks) {
    const note = await readTaskNote(db, task, log.sessions.get(task) ?? []);
    if (note !== undefined) yield note;
  }
  for (const session of wanted.sessions) {
    const note = await readSessionNote(db, session);
    if (note !== undefined) yield note;
  }
  for (const name of wanted.agents) {
    const agent = log.agents.get(name);
    if (agent !== undefined) yield await readAgentNote(db, name, agent);
  }
  const days = [...log.days.keys()].toSorted();
  for (const day of wanted.days) {
    const range = log.days.get(day);
    if (range !== undefined) yield await readDayNote(db, day, range, days[days.indexOf(day) - 1]);
  }
  if (wanted.index) yield await readIndexNote(db, log);
}
