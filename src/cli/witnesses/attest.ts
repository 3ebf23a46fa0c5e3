import { readLedgerId } from '../../checkpoints/ledger-id.ts';
import { listKeys } from '../../checkpoints/ledger-keys.ts';
import { assertExtends } from '../../checkpoints/rollback.ts';
import { ColibriError } from '../../errors.ts';
import { printError } from '../../print-error.ts';
import { type Asked, askWitnesses } from '../../witnesses/ask.ts';
import { listWitnesses } from '../../witnesses/configured.ts';
import { withCosignatures } from '../../witnesses/cosignatures.ts';
import type { Person } from '../people/open-person.ts';
import { CommandError } from '../support/command-result.ts';
import { readCheckpointFile, verify } from './compare.ts';

/** Short, because a person waits for the command. */
const TIMEOUT_MS = 5000;

export interface Attested {
  readonly ledgerId: string;
  /** The checkpoint with the signature of the log and all stored cosignatures. */
  readonly checkpoint: string;
  readonly asked: readonly Asked[];
}

/** Signs the log as it is now, and asks the witnesses of the user, if there are any, to cosign it. */
export async function signAttested(person: Person): Promise<Attested> {
  const checkpoint = await person.signCheckpoint();
  const { database } = person;
  if (database === undefined) throw new CommandError('cannot tell', 'there is no ledger to read');
  const ledgerId = await database.read(readLedgerId);
  const witnesses = listWitnesses(ledgerId);
  const asked = await askWitnesses(witnesses, { database, ledgerId, checkpoint, timeoutMs: TIMEOUT_MS });
  return { ledgerId, checkpoint: withCosignatures(ledgerId, checkpoint), asked };
}

/**
 * The same for commands that work without cosignatures: a witness that gives none is only mentioned. With a file, takes
 * the checkpoint in it instead, which is an earlier one of this log.
 */
export async function signForOthers(person: Person, file?: string): Promise<string> {
  if (file !== undefined) return readEarlier(person, file);
  const { checkpoint, asked } = await signAttested(person);
  const missing = asked.flatMap((each) => (each.state === 'cosigned' ? [] : [`Witness ${each.name} ${each.problem}.`]));
  if (missing.length > 0) printError(missing);
  return checkpoint;
}

async function readEarlier(person: Person, file: string): Promise<string> {
  const text = readCheckpointFile(file);
  await person.read(async (reader) => {
    const keys = (await listKeys(reader)).map(({ key }) => key);
    const signed = verify(text, file, keys);
    try {
      await assertExtends(reader, signed);
    } catch (error) {
      if (error instanceof ColibriError) throw new CommandError('differs', error.problem);
      throw error;
    }
  });
  return text;
}
