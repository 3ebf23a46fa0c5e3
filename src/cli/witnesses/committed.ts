import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { listKeys } from '../../checkpoints/ledger-keys.ts';
import { assertExtends } from '../../checkpoints/rollback.ts';
import { createGitEnvironment } from '../../config.ts';
import type { Reader } from '../../db/database.ts';
import { findWorkTree } from '../../db/locate.ts';
import { ColibriError } from '../../errors.ts';
import { listFileVersions } from '../../git/file-versions.ts';
import { GitFailed, runGit } from '../../git/run-git.ts';
import {
  BadFormat,
  formatChain,
  parseCheckpoint,
  parseVerifierKey,
  type SignedCheckpoint,
  type VerifierKey,
  verifyCheckpoint,
  type WitnessRequest,
} from '../../integrity/index.ts';
import { StoredTree } from '../../ledger/stored-tree.ts';
import type { Person } from '../people/open-person.ts';
import { writePublic } from '../proofs/tiles.ts';
import { CommandError, type CommandResult } from '../support/command-result.ts';
import { signAttested } from './attest.ts';
import { PROOF_SUFFIX } from './compare.ts';

/** Where a checkpoint to commit is, in the work tree. */
export const COMMITTED_PATH = '.colibri/checkpoint';
const MAX_STEPS = 100;
/** Git ignores everything in the folder of a ledger but the checkpoints that are written to be committed. */
const IGNORE_ALL = '*\n';
const IGNORE_TEXT = '*\n!*checkpoint\n!*checkpoint.proof\n';

interface Known extends SignedCheckpoint {
  readonly text: string;
}

/** Writes the signed checkpoint where it can be committed, with the proof that it extends what was committed before. */
export async function writeCommitted(person: Person, file: string | undefined): Promise<CommandResult> {
  const target = locate(file);
  const before = readExisting(target.path);
  const { checkpoint } = await signAttested(person);
  const signed = parseCheckpoint(checkpoint);
  if (before !== undefined && before.origin !== signed.origin)
    throw new CommandError('refused', `${target.path} belongs to another log, ${before.origin}`, {
      advice: 'name another file, such as --write .colibri/NAME.checkpoint',
    });
  const versions = [...(await listCommitted(target)), ...(before === undefined ? [] : [before.text])];
  const chain = await person.read(async (reader) => {
    const known = await selectOwn(reader, versions, signed);
    return buildChain(reader, [...known, { ...signed, text: checkpoint }]);
  });
  const proof = formatChain(chain ?? []);
  const isNew = before?.text !== checkpoint || readText(`${target.path}${PROOF_SUFFIX}`) !== proof;
  if (isNew) {
    writePublic(target.folder, `${target.name}${PROOF_SUFFIX}`, proof);
    writePublic(target.folder, target.name, checkpoint);
  }
  openIgnoreFile(dirname(target.path));
  const lines = [
    target.path,
    `${signed.size} entries, ${isNew ? 'to be committed together with' : 'unchanged, like'} ${basename(target.path)}${PROOF_SUFFIX}`,
    ...(await findIgnored(target)),
  ];
  const { origin, size, root } = signed;
  return {
    verdict: 'done',
    lines,
    facts: { file: target.path, origin, size, root, is_new: isNew, steps: chain?.length },
  };
}

interface CheckpointPath {
  readonly path: string;
  /** A folder that is followed if it is a link, and the path below it, which is not. */
  readonly folder: string;
  readonly name: string;
  readonly workTree: string | undefined;
}

function locate(file: string | undefined): CheckpointPath {
  const workTree = findWorkTree();
  if (file === undefined) {
    const folder = workTree ?? process.cwd();
    return { path: join(folder, COMMITTED_PATH), folder, name: COMMITTED_PATH, workTree };
  }
  const path = resolve(file);
  if (!basename(path).endsWith('checkpoint'))
    throw new CommandError('bad input', `the name of ${file} does not end with checkpoint`, {
      advice: 'use a name such as .colibri/NAME.checkpoint, which git does not ignore',
    });
  return { path, folder: dirname(path), name: basename(path), workTree };
}

/** Undefined if the file does not exist, or if git has left a conflict in it. */
function readExisting(path: string): Known | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (!stats.isFile()) throw new CommandError('refused', `${path} is not a file`, { advice: 'remove it' });
  const text = readText(path) ?? '';
  if (/^<{7} /m.test(text)) return undefined;
  const found = parse(text);
  if (found === undefined)
    throw new CommandError('refused', `${path} is not a checkpoint`, { advice: 'move it away, and try again' });
  return found;
}

/** Every version that the repository knows; none outside a repository. */
async function listCommitted({ path, workTree }: CheckpointPath): Promise<string[]> {
  if (workTree === undefined) return [];
  const name = relative(workTree, path).split(sep).join('/');
  if (name.startsWith('../')) return [];
  try {
    return await listFileVersions(name, { env: createGitEnvironment(), cwd: workTree });
  } catch (error) {
    if (error instanceof GitFailed) return [];
    throw error;
  }
}

/**
 * Checkpoints of this log by one of its keys, the largest last. Any committer can write others, which prove nothing.
 */
async function selectOwn(reader: Reader, versions: readonly string[], own: SignedCheckpoint): Promise<Known[]> {
  const keys = (await listKeys(reader)).map(({ key }) => parseVerifierKey(key));
  const sizes = new Map<number, Known>();
  for (const text of versions) {
    const found = parse(text);
    if (found === undefined || found.origin !== own.origin || !isSigned(text, keys)) continue;
    await refuseContradiction(reader, found);
    if (found.size < own.size) sizes.set(found.size, found);
  }
  return [...sizes.values()].sort((left, right) => left.size - right.size);
}

async function refuseContradiction(reader: Reader, found: Known): Promise<void> {
  try {
    await assertExtends(reader, found);
  } catch (error) {
    if (!(error instanceof ColibriError)) throw error;
    const problem = `this log does not extend a checkpoint over ${found.size} entries that was committed`;
    throw new CommandError('differs', problem, { advice: 'run git log -p .colibri/checkpoint and colibri verify' });
  }
}

async function buildChain(reader: Reader, known: readonly Known[]): Promise<WitnessRequest[]> {
  const steps: WitnessRequest[] = [];
  let before = 0;
  for (const { size, text: checkpoint } of known.slice(-MAX_STEPS)) {
    const isFirst = steps.length === 0;
    const proof = isFirst ? [] : await new StoredTree(reader, size).consistencyProof(before);
    steps.push({ oldSize: isFirst ? 0 : before, proof, checkpoint });
    before = size;
  }
  return steps;
}

function parse(text: string): Known | undefined {
  try {
    return { ...parseCheckpoint(text), text };
  } catch (error) {
    if (error instanceof BadFormat) return undefined;
    throw error;
  }
}

function isSigned(text: string, log: readonly VerifierKey[]): boolean {
  try {
    return verifyCheckpoint(text, { log }).signers.length > 0;
  } catch (error) {
    if (error instanceof BadFormat) return false;
    throw error;
  }
}

/** A text that a user has changed stays as it is. */
function openIgnoreFile(folder: string): void {
  const path = join(folder, '.gitignore');
  const isOwn = lstatSync(path, { throwIfNoEntry: false })?.isFile() === true && readText(path) === IGNORE_ALL;
  if (isOwn) writeFileSync(path, IGNORE_TEXT);
}

async function findIgnored({ path, workTree }: CheckpointPath): Promise<string[]> {
  if (workTree === undefined) return [];
  try {
    await runGit(['check-ignore', '-q', '--', path], { env: createGitEnvironment(), cwd: workTree });
    return [`Git ignores ${path}: run git add -f, or allow it in .gitignore.`];
  } catch (error) {
    if (error instanceof GitFailed) return [];
    throw error;
  }
}

function readText(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
