import { basename, join } from 'node:path';
import type { Affected } from '../log-summary.ts';
import { agentPath, dayPath, FOLDERS, sessionPath, taskPath } from './file-names.ts';
import { listNotes, readFile } from './folder.ts';
import { md } from './markdown.ts';
import { type Note, parseNote } from './note-file.ts';

/**
 * Notes of this ledger whose record it no longer has, as after a backup was restored. They are marked and not deleted,
 * because a person may have added something.
 */
export function* listGoneNotes(root: string, ledgerId: string, everything: Affected): Generator<Note, void> {
  const expected = new Set([
    ...[...everything.tasks].map(taskPath),
    ...[...everything.sessions].map(sessionPath),
    ...[...everything.agents].map(agentPath),
    ...[...everything.days].map(dayPath),
  ]);
  for (const folder of FOLDERS)
    for (const path of listNotes(root, folder)) {
      if (expected.has(path)) continue;
      const file = readFile(join(root, path));
      if (file === undefined || 'problem' in file || parseNote(file.text, ledgerId).kind === 'foreign') continue;
      const title = basename(path, '.md');
      yield {
        path,
        properties: { note: folder.slice(0, -1), title, gone: true },
        body: [md`# ${title}`, md`The ledger no longer has this record.`],
      };
    }
}
