import { gunzipSync } from 'node:zlib';
import {
  BadFormat,
  BUNDLE_FORMAT,
  type BundleReport,
  distinctKeys,
  findingLine,
  findPacked,
  parseVerifierKey,
  type TrustedKeys,
  UnknownSigner,
  verifyBytes,
} from '../../integrity/index.ts';
import { CommandError, type CommandResult } from '../support/command-result.ts';
import { readLimited } from '../support/limited-file.ts';
import { judgeTimeStamp } from '../witnesses/judge-time-stamp.ts';
import { judgeTimes } from '../witnesses/judge-times.ts';
import { assertCertificates } from '../witnesses/openssl.ts';

/** A string of Node holds about half a gigabyte. */
const MAX_BYTES = 500_000_000;

const OTHER_FORMAT = `expected ${BUNDLE_FORMAT} or a page with one in it, a tlog-proof, a COSE receipt or a DSSE envelope`;
/** A bundle has the entries of rotations, a proof has one entry. */
const OTHER_KEY =
  'ask its owner for the output of colibri key; after colibri key rotate, a proof of one record needs the new key';

/** What the reader of a file believes and requires. */
export interface FileTrust {
  readonly keys: readonly string[];
  readonly witnesses: readonly string[];
  /** How many of the witnesses must have cosigned; undefined: all of them. */
  readonly quorum: number | undefined;
  /** How old a cosignature may be, in milliseconds. */
  readonly maxAgeMs: number | undefined;
  /** The certificates of the time stamping authority that the reader trusts. */
  readonly tsaCa: string | undefined;
}

/**
 * Checks a bundle or a proof without a ledger. States claims one by one; the exit code says whether one of them fails.
 */
export async function verifyFile(file: string, trust: FileTrust): Promise<CommandResult> {
  const { keys, witnesses, quorum, maxAgeMs, tsaCa } = trust;
  if (keys.length === 0)
    throw new CommandError('bad input', 'a signature proves nothing without a key that you trust', {
      advice: 'pass --key KEY: ask its owner for the output of colibri key',
    });
  if (maxAgeMs !== undefined && witnesses.length === 0)
    throw new CommandError('bad input', '--max-age is about cosignatures, and no witness is named', {
      advice: 'pass --witness KEY',
    });
  const watching = distinctKeys(witnesses.map(parseWitnessKey));
  if (quorum !== undefined && quorum > watching.length)
    throw new CommandError('bad input', `--quorum ${quorum} needs as many keys of witnesses`, {
      advice: 'pass --witness KEY for each',
    });
  if (tsaCa !== undefined) assertCertificates(tsaCa);
  const trusted = {
    log: keys.map(parseKey),
    witnesses: watching,
    ...(quorum !== undefined && { quorum }),
  };
  const { claims: found, checkpoint, entries } = judge(file, trusted);
  const maxAge = maxAgeMs === undefined ? undefined : maxAgeMs / 1000;
  const times = judgeTimes(checkpoint, { now: Date.now() / 1000, maxAge });
  const stamps = tsaCa === undefined ? [] : [await judgeTimeStamp(checkpoint, tsaCa)];
  const rest = found.filter(({ about }) => about !== 'stamp' || stamps.length === 0);
  const claims = [...rest, ...times, ...stamps];
  const hasFailed = claims.some(({ holds }) => holds === 'no');
  const lines = claims.map(findingLine);
  const { origin, size, root } = checkpoint;
  const facts = { file, origin, size, root, entries: entries.length, claims };
  return { verdict: hasFailed ? 'tampered' : 'whole', lines, facts };
}

function judge(file: string, keys: TrustedKeys): BundleReport {
  const bytes = read(file);
  try {
    const packed = findPacked(bytes);
    return verifyBytes(packed === undefined ? bytes : unpack(packed), keys);
  } catch (error) {
    if (!(error instanceof BadFormat)) throw error;
    const advice = error instanceof UnknownSigner ? OTHER_KEY : OTHER_FORMAT;
    throw new CommandError('bad input', `${file}: ${error.message}`, { advice });
  }
}

/** The bundle of a page. */
function unpack(packed: Uint8Array): Uint8Array {
  try {
    return gunzipSync(packed, { maxOutputLength: MAX_BYTES });
  } catch {
    throw new BadFormat('the bundle of the page is damaged or too large');
  }
}

function parseKey(text: string) {
  try {
    return parseVerifierKey(text);
  } catch (error) {
    if (!(error instanceof BadFormat)) throw error;
    throw new CommandError('bad input', error.message, { advice: 'pass the key as colibri key prints it' });
  }
}

function parseWitnessKey(text: string) {
  const key = parseKey(text);
  if (key.type === 'cosignature') return key;
  throw new CommandError('bad input', `${key.name} is the key of a log, not of a witness`, {
    advice: 'pass it as --key',
  });
}

function read(file: string): Uint8Array {
  let bytes: Uint8Array;
  try {
    bytes = readLimited(file, MAX_BYTES);
  } catch (error) {
    throw new CommandError('bad input', `${file} cannot be read`, { cause: error });
  }
  if (bytes.length > MAX_BYTES) throw new CommandError('cannot tell', `${file} is larger than ${MAX_BYTES} bytes`);
  return bytes;
}
