import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findConfigFolder } from '../config.ts';
import {
  BadFormat,
  findTimeStamp,
  formatNote,
  parseCheckpoint,
  type SignedCheckpoint,
  stampedDigest,
  timeStampSignature,
} from '../integrity/index.ts';
import { isPrivate, writePrivateFile } from '../trust/private-file.ts';

/** One file for each checkpoint that a time stamp was requested for, named after the digest that it is about. */

/** Remembers the checkpoint until its time stamp arrives. Returns the digest to request it for. */
export function rememberRequest(ledgerId: string, checkpoint: string): string {
  const { note } = parseCheckpoint(checkpoint);
  const digest = stampedDigest(note.text);
  const file = findFile(ledgerId, digest);
  if (file !== undefined && findRequested(ledgerId, digest) === undefined) writePrivateFile(file, checkpoint);
  return digest;
}

/** The checkpoint with this digest, with its time stamp if it has one. */
export function findRequested(ledgerId: string, digest: string): SignedCheckpoint | undefined {
  const file = findFile(ledgerId, digest);
  try {
    return file === undefined || !isPrivate(file) ? undefined : parseCheckpoint(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error instanceof BadFormat) return undefined;
    throw error;
  }
}

/** Returns the checkpoint with its time stamp. */
export function storeTimeStamp(ledgerId: string, { note }: SignedCheckpoint, response: Uint8Array): string {
  const others = note.signatures.filter(
    (signature) => findTimeStamp({ ...note, signatures: [signature] }) === undefined,
  );
  const text = formatNote({ text: note.text, signatures: [...others, timeStampSignature(response)] });
  const file = findFile(ledgerId, stampedDigest(note.text));
  if (file !== undefined) writePrivateFile(file, text);
  return text;
}

function findFile(ledgerId: string, digest: string): string | undefined {
  const folder = findConfigFolder();
  return folder === undefined ? undefined : join(folder, 'colibri', 'time-stamps', ledgerId, digest);
}
