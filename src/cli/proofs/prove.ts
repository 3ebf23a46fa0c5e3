import { resolve } from 'node:path';
import { Argument, Option } from 'commander';
import { DatabaseError, type Reader } from '../../db/database.ts';
import { findRedactionOf } from '../../domains/redaction/repository.ts';
import {
  type BundledEntry,
  canonicalize,
  formatTlogProof,
  type InclusionProof,
  isIncluded,
  leafHash,
  parseCheckpoint,
} from '../../integrity/index.ts';
import { StoredTree } from '../../ledger/stored-tree.ts';
import { type Person, type PersonOptions, withReader } from '../people/open-person.ts';
import { PERSON_OPTIONS } from '../people/run-person.ts';
import { listEntriesToProve } from '../query/record-entries.ts';
import { assertFree, writeNewFile } from '../support/atomic-file.ts';
import type { CliCommand } from '../support/command.ts';
import { CommandError, type CommandResult, reportResult } from '../support/command-result.ts';
import { signForOthers } from '../witnesses/attest.ts';
import { readEntries } from './read-entries.ts';
import { notAsSigned } from './signed-entries.ts';

/** `tlog` is text, `cose` binary, `dsse` JSON. */
const FORMATS = ['tlog', 'cose', 'dsse'] as const;
type Format = (typeof FORMATS)[number];

interface ProveOptions extends PersonOptions {
  readonly format: Format;
  readonly out?: string;
  readonly redact?: boolean;
  readonly at?: string;
}

export const prove: CliCommand<ProveOptions, string> = {
  name: 'prove',
  summary: 'write the proof that one record is in the signed log',
  argument: new Argument('<record>', 'the index of an entry, or an id: T-0042, A-0003, \u0398-0012'),
  options: [
    new Option('--format <format>', 'tlog: C2SP tlog-proof, cose: COSE receipt, dsse: in-toto statement')
      .choices(FORMATS)
      .default('tlog'),
    new Option('-o, --out <file>', 'the file to write; without it the proof is printed'),
    new Option('--redact', 'leave the content of the record out'),
    new Option('--at <file>', 'as of the checkpoint in this file, instead of signing a new one'),
    ...PERSON_OPTIONS,
  ],
  details: [
    'A task is proved by its newest version, a session by its seal, and by its start while it is not sealed.',
    'The file is a C2SP tlog-proof: the index of the entry, the hashes up to the root, and a signed checkpoint. Its extra line holds the entry itself and, unless --redact is given, what it has digests of.',
    'With --format cose it is a COSE receipt (RFC 9942), with --format dsse a DSSE envelope with an in-toto statement about the entry. Both have the same proof in them, and the key of the checkpoint signs them too. colibri verify FILE --key KEY checks all three.',
  ],
  examples: [
    ['colibri prove 128 --out entry.tlog-proof'],
    ['colibri prove A-0003 --out seal.tlog-proof', 'the seal of a session'],
    ['colibri prove 128 --format cose --out entry.cose', 'for tools that read COSE receipts'],
    ['colibri prove 128 --format dsse --out entry.intoto.json', 'for tools that read attestations'],
    ['colibri prove 128 --redact', 'prints it, without what was written'],
  ],
  exitCodes: { 0: 'written', 1: 'the log is not what was signed', 2: 'cannot tell', 3: 'bad input' },
  run: ({ format, out, redact = false, at, ...options }, record) =>
    reportResult('prove', options.json ?? false, () =>
      withReader(options, (person) => proveRecord(person, record, { format, out, redact, at })),
    ),
};

interface Request {
  readonly format: Format;
  readonly out: string | undefined;
  readonly redact: boolean;
  /** A file with an earlier checkpoint. */
  readonly at: string | undefined;
}

async function proveRecord(
  person: Person,
  record: string,
  { format, out, redact, at }: Request,
): Promise<CommandResult> {
  if (out !== undefined) assertFree(resolve(out));
  else if (format === 'cose')
    throw new CommandError('bad input', 'a COSE receipt is not text', { advice: 'pass --out FILE' });
  const entries = await person.read((reader) => listEntriesToProve(reader, record));
  const checkpoint = await signForOthers(person, at);
  const { size, root } = parseCheckpoint(checkpoint);
  const index = entries?.findLast((each) => each < size);
  if (index === undefined)
    throw new CommandError('bad input', `no entry ${record}`, { advice: `the log has ${size} entries` });
  const proof = await person.read(async (reader) => {
    const path = await new StoredTree(reader, size).inclusionProof(index);
    return { path, entry: await readEntry(reader, index, redact), redaction: await findRedactionOf(reader, index) };
  });
  if (proof === undefined) throw new CommandError('cannot tell', 'there is no ledger to read');
  const { redaction, ...inclusion } = proof;
  const leaf = leafHash(inclusion.entry.entry);
  if (!isIncluded({ leaf, index, size, proof: inclusion.path, root })) throw notAsSigned(`entry ${index} is`);
  const bytes = wrap(person, format, { ...inclusion, checkpoint });
  const known = { format, index, size, root, ...(redaction !== undefined && { redaction }) };
  if (out === undefined) {
    const text = bytes.toString('utf8');
    return { verdict: 'done', lines: text.trimEnd().split('\n'), facts: { ...known, proof: text } };
  }
  const file = resolve(out);
  writeNewFile(file, bytes);
  const lines = [file, `proves entry ${index} in the log of ${size}`];
  if (redaction !== undefined) lines.push(`Its content was redacted by entry ${redaction}; prove that entry, too.`);
  return { verdict: 'done', lines, facts: { ...known, file } };
}

function wrap(person: Person, format: Format, proof: InclusionProof): Buffer {
  if (format !== 'tlog') return Buffer.from(person.wrapProof(format, proof));
  const { entry, path, checkpoint } = proof;
  const extra = new TextEncoder().encode(canonicalize(entry));
  return Buffer.from(formatTlogProof({ index: entry.index, path, checkpoint, extra }));
}

async function readEntry(db: Reader, index: number, redact: boolean): Promise<BundledEntry> {
  for await (const [entry] of readEntries(db, { indexes: [index], size: index + 1, redact }))
    if (entry !== undefined) return entry;
  throw new DatabaseError('corrupt', `the log misses entry ${index}`, { advice: 'run colibri verify' });
}
