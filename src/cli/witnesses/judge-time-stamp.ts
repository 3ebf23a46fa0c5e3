import { toError } from '../../errors.ts';
import { type Finding, findTimeStamp, stampedDigest, type VerifiedCheckpoint } from '../../integrity/index.ts';
import { extractToken, OpensslMissing, readToken, verifyToken } from './openssl.ts';

/** Whether the time stamp of a checkpoint is by an authority whose certificates the reader trusts. */
export async function judgeTimeStamp({ note }: VerifiedCheckpoint, caFile: string): Promise<Finding> {
  const about = 'stamp';
  const response = findTimeStamp(note);
  if (response === undefined) return { about, holds: 'no', says: 'no time stamp is attached' };
  try {
    const token = await extractToken(response);
    await verifyToken(token, stampedDigest(note.text), caFile);
    const { time } = await readToken(token);
    return { about, holds: 'yes', says: `this log was time stamped at ${time.toISOString()}, according to ${caFile}` };
  } catch (error) {
    const { message } = toError(error);
    if (error instanceof OpensslMissing)
      return { about, holds: 'unknown', says: `a time stamp is attached, and was not checked: ${message}` };
    return { about, holds: 'no', says: `the time stamp does not hold: ${message}` };
  }
}
