import { isDeepStrictEqual } from 'node:util';
import { verifyProofFile } from '../../src/integrity/bundle/proof-file.ts';
import {
  BadFormat,
  type BundleReport,
  canonicalize,
  type Entry,
  entryDefect,
  formatBundle,
  formatTlogProof,
  formatVerifierKey,
  isCanonicalText,
  type KeyStatement,
  keyStatementDefect,
  parseBundle,
  parseCheckpoint,
  parseEntry,
  parseTlogProof,
  parseVerifierKey,
  readEnter,
  readExit,
  verifyBundle,
  verifyCheckpoint,
} from '../../src/integrity/index.ts';
import { formatNote, parseNote } from '../../src/integrity/notes/signed-note.ts';
import { signLog, WITH_CONTENT } from './sample-log.ts';
import { type FuzzTarget, promise, unlessThrows } from './target.ts';

export const log = signLog();
export const keys = { log: [parseVerifierKey(log.key)] };
const statements = log.entries.map(({ entry }) => entry).filter((entry) => entry.includes('"key.added"'));

/** A judged file may leave things out. What it has is what the key has signed. */
export function assertSame({ claims, entries, checkpoint }: BundleReport): void {
  promise(
    checkpoint.note.text === parseCheckpoint(log.checkpoint()).note.text,
    'only what was signed is called signed',
  );
  if (claims.some(({ holds }) => holds === 'no')) return;
  promise(entries.length > 0, 'a file without failed claims proves entries');
  for (const { index, entry, disclosed } of entries) {
    const honest = log.entries[index];
    promise(entry === honest?.entry, `entry ${index} is that of the log`);
    const isSame = disclosed === undefined || isDeepStrictEqual(disclosed, honest?.disclosed);
    promise(isSame, `the content of entry ${index} is what was recorded`);
  }
}

const bundle: FuzzTarget = {
  name: 'bundle',
  samples: [
    log.bundle(),
    log.bundle([0, 1, 2]),
    log.bundle([4, 7, 8, 9, 10], { kind: 'session', session_id: 'A-0001' }),
  ],
  check: (input) => {
    const parsed = unlessThrows(BadFormat, () => parseBundle(input));
    if (parsed === undefined) return false;
    promise([...formatBundle(parsed)].join('') === input, 'a bundle has one text');
    const report = unlessThrows(BadFormat, () => verifyBundle(parsed, keys));
    if (report !== undefined) assertSame(report);
    return report?.claims.every(({ holds }) => holds !== 'no') ?? false;
  },
};

const proofFile: FuzzTarget = {
  name: 'proof-file',
  samples: [3, 7, 16].map((index) => log.proof(index)),
  check: (input) => {
    const parsed = unlessThrows(BadFormat, () => parseTlogProof(input));
    const report = unlessThrows(BadFormat, () => verifyProofFile(input, keys));
    if (parsed === undefined) promise(report === undefined, 'what is not a proof is not judged');
    else promise(formatTlogProof(parsed) === input, 'a proof has one text');
    if (report !== undefined) assertSame(report);
    return report?.claims.every(({ holds }) => holds !== 'no') ?? false;
  },
};

const checkpoint: FuzzTarget = {
  name: 'checkpoint',
  samples: [log.checkpoint()],
  check: (input, sample) => {
    const parsed = unlessThrows(BadFormat, () => parseCheckpoint(input));
    const verified = unlessThrows(BadFormat, () => verifyCheckpoint(input, keys));
    if (verified !== undefined)
      promise(verified.note.text === parseCheckpoint(sample).note.text, 'only what was signed is called signed');
    return parsed !== undefined;
  },
};

const signedNote: FuzzTarget = {
  name: 'signed-note',
  samples: [log.checkpoint(), `any\n\ntext\n\n\u2014 name ${Buffer.alloc(12, 1).toString('base64')}\n`],
  check: (input) => {
    const note = unlessThrows(BadFormat, () => parseNote(input));
    if (note !== undefined) promise(formatNote(note) === input, 'a note has one text');
    return note !== undefined;
  },
};

const verifierKey: FuzzTarget = {
  name: 'verifier-key',
  samples: [log.key],
  check: (input) => {
    const key = unlessThrows(BadFormat, () => parseVerifierKey(input));
    if (key !== undefined) promise(formatVerifierKey(key) === input, 'a key has one text');
    return key !== undefined;
  },
};

const keyStatement: FuzzTarget = {
  name: 'key-statement',
  samples: statements,
  check: (input) => {
    const entry = parseEntry(input);
    if (entry?.kind !== 'key.added' || entryDefect(entry) !== undefined) return false;
    const isSound = keyStatementDefect(entry as Entry & KeyStatement) === undefined;
    const said = ({ key, replaces }: Entry) => JSON.stringify([key, replaces]);
    const isKnown = statements.some((statement) => said(JSON.parse(statement) as Entry) === said(entry));
    promise(!isSound || isKnown, 'only its owner introduces a key');
    return isSound;
  },
};

const entries: FuzzTarget = {
  name: 'entry',
  samples: log.entries.map(({ entry }) => entry),
  check: (input) => {
    const entry = parseEntry(input);
    const isEntry = entry !== undefined && entryDefect(entry) === undefined;
    if (isEntry) promise(isCanonicalText(input) && canonicalize(entry) === input, 'an entry has one text');
    // The digest of an enter entry is compared by its caller.
    const enter = readEnter(input);
    const isDigest = enter !== undefined && /^[0-9a-f]{64}$/.test(enter.digest);
    promise(!isDigest || (isEntry && entry.kind === 'action.enter'), 'both readers of enter entries agree');
    promise(readExit(input) === undefined || (isEntry && entry.kind === 'action.exit'), 'both readers of exits agree');
    return isEntry;
  },
};

/** An owner of the key can sign anything. Every claim is stated even then, and no error leaves the verifier. */
const signedContent: FuzzTarget = {
  name: 'signed-content',
  samples: WITH_CONTENT.map(({ record }) => record.content?.text ?? ''),
  check: (input, sample) => {
    const found = WITH_CONTENT.find(({ record }) => record.content?.text === sample);
    const content = found?.record.content;
    if (found === undefined || content === undefined || !input.isWellFormed()) return false;
    const signed = signLog({ index: found.index, record: { ...found.record, content: { ...content, text: input } } });
    const { claims } = verifyBundle(parseBundle(signed.bundle([found.index])), { log: [parseVerifierKey(signed.key)] });
    const isContent = claims.find(({ about }) => about === 'content')?.holds === 'yes';
    promise(!isContent || isCanonicalText(input), 'content has one text');
    return isContent;
  },
};

export const PROOF_TARGETS: readonly FuzzTarget[] = [
  bundle,
  proofFile,
  checkpoint,
  signedNote,
  verifierKey,
  keyStatement,
  entries,
  signedContent,
];
