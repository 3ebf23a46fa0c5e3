import type { Reader, Transaction } from '../../db/database.ts';
import { type Decision, eraseContent, hasEnded } from '../../domains/redaction/repository.ts';
import { type Disclosed, disclosedDefect, type Entry, isRedactable } from '../../integrity/index.ts';
import { readEntries } from '../proofs/read-entries.ts';
import { findEntry } from '../query/log-entries.ts';
import { CommandError } from '../support/command-result.ts';

interface Content {
  readonly entry: Entry;
  readonly disclosed: Disclosed;
}

/** The content of an entry, if it may be redacted. */
export async function readRedactable(db: Reader, index: number): Promise<Content> {
  const entry = await findEntry(db, index);
  if (entry === undefined || !isRedactable(entry.kind)) throw refusal(index, entry);
  if (entry.kind === 'action.enter' && !(await hasEnded(db, index)))
    throw new CommandError('refused', `call ${index} is still running`, { advice: 'redact it when it has ended' });
  for await (const [bundled] of readEntries(db, { indexes: [index], size: index + 1, redact: false })) {
    const disclosed = bundled?.disclosed;
    const defect = disclosed === undefined ? 'has no content' : disclosedDefect(entry, disclosed);
    if (disclosed !== undefined && defect === undefined) return { entry, disclosed };
    // Redacting would hide that the content was changed.
    throw new CommandError('tampered', `entry ${index} ${defect}`, { advice: 'run colibri verify' });
  }
  throw refusal(index, entry);
}

function refusal(index: number, entry: Entry | undefined): CommandError {
  if (entry?.kind === 'project.options')
    return new CommandError('refused', `entry ${index} sets the options of a project, which are rules and stay`);
  return new CommandError('refused', `entry ${index} (${entry?.kind ?? 'unreadable'}) has no content to redact`, {
    advice: 'name the record itself: colibri timeline prints the entries',
  });
}

/** Removes the content of an entry, if it may be redacted. Returns the index of the redaction entry. */
export async function redactEntry(db: Transaction, index: number, decision: Decision): Promise<number> {
  const { entry } = await readRedactable(db, index);
  return eraseContent(db, index, entry, decision);
}
