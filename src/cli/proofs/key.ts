import { constants, copyFileSync, existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import { Argument } from 'commander';
import { readLedgerId } from '../../checkpoints/ledger-id.ts';
import { addKey, isReplaced, listKeys } from '../../checkpoints/ledger-keys.ts';
import { createKeyFile, FORMER, openSigningKey, type SigningKey } from '../../checkpoints/signing-key.ts';
import type { Config } from '../../config.ts';
import type { Database } from '../../db/database.ts';
import { syncFolder } from '../../files/sync.ts';
import { formatVerifierKey, originOf } from '../../integrity/index.ts';
import { lacksHardLinks } from '../../trust/private-file.ts';
import { type Person, type PersonOptions, requireWriter, withPerson } from '../people/open-person.ts';
import { PERSON_OPTIONS } from '../people/run-person.ts';
import { timeStamp } from '../support/atomic-file.ts';
import type { CliCommand } from '../support/command.ts';
import { CommandError, type CommandResult, reportResult } from '../support/command-result.ts';
import { readProjectConfig, withLedger } from '../support/with-ledger.ts';

export const key: CliCommand<PersonOptions, 'rotate' | undefined> = {
  name: 'key',
  summary: 'print the public key that signs checkpoints, or replace it',
  argument: new Argument('[action]', 'rotate: replace the key with a new one').choices(['rotate']),
  options: [...PERSON_OPTIONS],
  details: [
    'The output is a verifier key of a C2SP signed note, name+id+key. Give it to everyone who must be able to check your checkpoints, bundles and proofs, through a channel that an attacker does not control.',
    'The private key is created by the first signature, in your configuration folder or where COLIBRI_KEY_PATH says, readable by you only. It is never part of the ledger or of a bundle.',
  ],
  examples: [['colibri key'], ['colibri key rotate', 'an entry of the ledger, signed by the old and the new key']],
  exitCodes: {
    0: 'printed or replaced',
    1: 'refused: the key was not replaced',
    2: 'no ledger, or it cannot be read',
    3: 'no usable key',
  },
  run: (options, action) =>
    reportResult('key', options.json ?? false, () => (action === 'rotate' ? withPerson(options, rotate) : show())),
};

/** The key of this user, under the name of the log. */
export async function findPublicKey(config: Config): Promise<string> {
  const origin = originOf(await withLedger(config, readLedgerId));
  return formatVerifierKey(requireKey(config).verifierKey(origin));
}

async function show(): Promise<CommandResult> {
  const config = readProjectConfig();
  const [origin, keys] = await withLedger(config, async (reader) => [
    originOf(await readLedgerId(reader)),
    await listKeys(reader),
  ]);
  const own = formatVerifierKey(requireKey(config).verifierKey(origin));
  const replaced = new Set(keys.map(({ replaces }) => replaces));
  const known = keys.map(({ idx, key: text }) => ({ key: text, entry: idx, is_replaced: replaced.has(text) }));
  return { verdict: 'done', lines: [own], facts: { key: own, origin, keys: known } };
}

async function rotate(person: Person): Promise<CommandResult> {
  const { config, actor } = person;
  const database = requireWriter(person);
  const { path } = requireKey(config);
  const next = `${path}.next`;
  // A key that an interrupted rotation has left is the one that an entry may name already.
  if (!existsSync(next)) createKeyFile(next);
  const fresh = openSigningKey({ ...config, keyPath: next });
  if (fresh === undefined) throw new CommandError('cannot tell', 'the new key vanished', { advice: 'try again' });
  // Read after the new one: a rotation that runs at the same time may have swapped them, so that the new one is
  // another.
  const old = requireKey(config);
  const { origin, entry } = await introduce(database, { old, fresh, actor });
  const kept = `${path}.${timeStamp()}${FORMER}`;
  const isKept = swap(old, fresh, kept);
  const text = formatVerifierKey(fresh.verifierKey(origin));
  const former = isKept
    ? `The old private key is now ${kept}; delete it when no other ledger uses it.`
    : 'A rotation that ran at the same time has kept the old private key.';
  const lines = [text, `entry ${entry} introduces it. ${former}`];
  return { verdict: 'done', lines, facts: { key: text, entry, ...(isKept && { old_key_file: kept }) } };
}

/**
 * There is a key at the path at every moment. Returns false if a rotation that runs at the same time has swapped them
 * already.
 */
function swap(old: SigningKey, fresh: SigningKey, kept: string): boolean {
  if (!existsSync(fresh.path)) return false;
  keepAs(old.path, kept);
  try {
    renameSync(fresh.path, old.path);
  } catch (error) {
    rmSync(kept, { force: true });
    if (existsSync(fresh.path)) throw error;
    return false;
  }
  syncFolder(old.path);
  return true;
}

function keepAs(path: string, kept: string): void {
  try {
    linkSync(path, kept);
  } catch (error) {
    if (!lacksHardLinks(error)) throw error;
    copyFileSync(path, kept, constants.COPYFILE_EXCL);
  }
}

async function introduce(
  database: Database,
  { old, fresh, actor }: { readonly old: SigningKey; readonly fresh: SigningKey; readonly actor: string },
): Promise<{ origin: string; entry: number }> {
  return database.write({ durable: 'always' }, async (db) => {
    const origin = originOf(await readLedgerId(db));
    const [before, after] = [old, fresh].map((each) => formatVerifierKey(each.verifierKey(origin)));
    const at = new Date().toISOString();
    const known = await listKeys(db);
    const done = known.find(({ key: text }) => text === after);
    if (done !== undefined) return { origin, entry: done.idx };
    if (await isReplaced(db, before ?? ''))
      throw new CommandError('refused', 'the key was replaced already', { advice: 'run colibri key to see all keys' });
    // The first signature was never made, so the log does not know the old key yet.
    if (!known.some(({ key: text }) => text === before)) await addKey(db, { origin, key: old, actor, at });
    return { origin, entry: await addKey(db, { origin, key: fresh, replaces: old, actor, at }) };
  });
}

function requireKey(config: Config): SigningKey {
  const found = openSigningKey(config);
  if (found !== undefined) return found;
  const problem = config.keyPath === 'none' ? 'COLIBRI_KEY_PATH is none' : 'you have no configuration folder';
  throw new CommandError('bad input', `no signing key: ${problem}`, { advice: 'name a file in COLIBRI_KEY_PATH' });
}
