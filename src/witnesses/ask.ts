import type { Database } from '../db/database.ts';
import { AdvisedError } from '../errors.ts';
import {
  BadFormat,
  type Digest,
  formatWitnessRequest,
  type NoteSignature,
  parseCheckpoint,
  parseSignature,
  parseSize,
  type SignedCheckpoint,
  type VerifierKey,
} from '../integrity/index.ts';
import { readSize } from '../ledger/head.ts';
import { StoredTree } from '../ledger/stored-tree.ts';
import type { Witness } from './configured.ts';
import { findCosigned, storeCosigned, verifyCosignature } from './cosignatures.ts';
import { type HttpAnswer, post } from './http.ts';

/** What came of asking one witness. */
export type Asked = { readonly name: string; readonly url: string } & (
  | { readonly state: 'cosigned'; readonly size: number /** Seconds since 1970. */; readonly time: number }
  /** `disagrees`: the witness has seen a log that this one does not extend. */
  | { readonly state: 'failed' | 'disagrees'; readonly problem: string }
);

export interface AskOptions {
  readonly database: Database;
  readonly ledgerId: string;
  /** The checkpoint as the log signed it. */
  readonly checkpoint: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

const MAX_ANSWER_BYTES = 65_536;
const MAX_LINES = 16;
/** Clocks differ. */
const MAX_AHEAD_S = 600;

/** Asks every witness for a cosignature, all at the same time, and stores what they give. Never rejects. */
export function askWitnesses(witnesses: readonly Witness[], options: AskOptions): Promise<Asked[]> {
  return Promise.all(
    witnesses.map(async (witness): Promise<Asked> => {
      const { key, url } = witness;
      try {
        return { name: key.name, url, ...(await askWitness(witness, options)) };
      } catch (error) {
        const isDisagreement = error instanceof Disagreement;
        return { name: key.name, url, state: isDisagreement ? 'disagrees' : 'failed', problem: problemOf(error) };
      }
    }),
  );
}

/** The witness has seen another log. */
class Disagreement extends AdvisedError {}

async function askWitness(
  witness: Witness,
  options: AskOptions,
): Promise<{ state: 'cosigned'; size: number; time: number }> {
  const { ledgerId, checkpoint: text } = options;
  const checkpoint = parseCheckpoint(text);
  const known = findCosigned(ledgerId, witness.key)?.size ?? 0;
  // A checkpoint that another server has had cosigned may be larger than this one.
  const oldSize = Math.min(known, checkpoint.size);
  let answer = await submit(witness, checkpoint, oldSize, options);
  if (answer.status === 409) {
    assertSameRoot(answer, oldSize, checkpoint);
    const seen = await readSeenSize(answer, checkpoint, options.database);
    answer = await submit(witness, checkpoint, seen, options);
    if (answer.status === 409) assertSameRoot(answer, seen, checkpoint);
  }
  assertAccepted(answer, checkpoint);
  const { signature, time } = readCosignature(answer, checkpoint, witness.key);
  storeCosigned(ledgerId, witness.key, checkpoint, signature);
  return { state: 'cosigned', size: checkpoint.size, time };
}

async function submit(
  { url }: Witness,
  { size }: SignedCheckpoint,
  oldSize: number,
  { database, checkpoint, timeoutMs, signal }: AskOptions,
): Promise<HttpAnswer> {
  const proof =
    oldSize === 0
      ? []
      : await database.read((reader): Promise<Digest[]> => new StoredTree(reader, size).consistencyProof(oldSize));
  return post(`${url}/add-checkpoint`, {
    body: formatWitnessRequest({ oldSize, proof, checkpoint }),
    type: 'text/plain; charset=utf-8',
    maxBytes: MAX_ANSWER_BYTES,
    timeoutMs,
    signal,
  });
}

/**
 * A conflict about a request whose two sizes are equal is about the root, unless the witness knows a third size by now.
 * The specification asks for the size in the answer only if sizes differ.
 */
function assertSameRoot(answer: HttpAnswer, oldSize: number, { size }: SignedCheckpoint): void {
  if (oldSize === size && (parseSeenSize(answer) ?? size) === size)
    throw new Disagreement(`has cosigned a log of ${size} entries with other entries than this one`);
}

/** How many entries of this log the witness has seen. */
async function readSeenSize(answer: HttpAnswer, { size }: SignedCheckpoint, database: Database): Promise<number> {
  const seen = parseSeenSize(answer);
  if (seen === undefined) throw new BadFormat('reports a conflict without the size that it knows');
  if (seen <= size) return seen;
  const present = await database.read(readSize);
  if (seen > present)
    throw new Disagreement(`has seen ${seen} entries of this log, which has ${present}: entries were removed`);
  throw new AdvisedError(`has already cosigned a larger log of ${seen} entries`, { advice: 'ask again' });
}

function parseSeenSize({ body, type }: HttpAnswer): number | undefined {
  const text = body.toString('utf8');
  if (!type.startsWith('text/x.tlog.size') || !text.endsWith('\n')) return undefined;
  return parseSize(text.slice(0, -1), 'the size that the witness knows');
}

function assertAccepted({ status }: HttpAnswer, { size }: SignedCheckpoint): void {
  if (status === 200) return;
  if (status === 422)
    throw new Disagreement(`does not accept that this log of ${size} entries extends the one that it has seen`);
  const known = REFUSALS[status];
  if (known !== undefined) throw new AdvisedError(known.problem, { advice: known.advice });
  if (status >= 300 && status < 400) throw new AdvisedError('redirects to another address, which is not followed');
  throw new AdvisedError(`answered with HTTP status ${status}`);
}

const REGISTER = 'give its operator the output of colibri key';
const REFUSALS: Readonly<Record<number, { problem: string; advice: string }>> = {
  400: { problem: 'calls the request malformed', advice: 'ask its operator which version of tlog-witness it speaks' },
  403: { problem: 'does not know the key of this log', advice: REGISTER },
  404: { problem: 'does not know this log', advice: REGISTER },
  409: { problem: 'answers other requests about this log at the same time', advice: 'ask again' },
};

function readCosignature(
  { body }: HttpAnswer,
  { note }: SignedCheckpoint,
  key: VerifierKey,
): { signature: NoteSignature; time: number } {
  const lines = body.toString('utf8').split('\n');
  if (lines.pop() !== '' || lines.length === 0 || lines.length > MAX_LINES)
    throw new BadFormat('answered with something that is not a list of signatures');
  const found = verifyCosignature(note.text, lines.map(parseSignature), key);
  if (found === undefined) throw new BadFormat(`answered without a signature by ${key.name}`);
  if (found.time > Date.now() / 1000 + MAX_AHEAD_S) throw new BadFormat('states a time in the future');
  return found;
}

function problemOf(thrown: unknown): string {
  return thrown instanceof BadFormat ? `answer refused: ${thrown.message}` : (thrown as Error).message;
}
