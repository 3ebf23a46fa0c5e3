import type { Promised } from './promises-server.ts';

/** What operators rely on: backups, and copies between engines. */
export const OPERATION_PROMISES = {
  'backup/exact': { says: 'a backup has every row of the ledger and is readable by its owner only' },
  'backup/under-fire': { says: 'a backup taken while servers write is valid and a prefix of what they wrote' },
  'backup/never-overwrites': { says: 'backup never overwrites a file' },
  'backup/atomic': { says: 'a backup file is complete and verified, or does not exist' },
  'backup/evidence': { says: 'backup reports that the ledger was tampered with' },
  'backup/refusals': { says: 'a backup that cannot be made is refused with the reason' },
  'backup/restored': { says: 'a restored ledger equals the backup, and servers continue from it' },
  'backup/kept': { says: 'restore keeps the file that it replaces' },
  'backup/nothing-lost': { says: 'a restore that would lose entries reports how many and requires --force' },
  'backup/in-use': { says: 'restore does not replace a ledger that is open' },
  'backup/verified-first': { says: 'restore accepts only a backup that verifies' },
  'backup/restore-atomic': { says: 'a restore leaves the old ledger or the new one, never a mixture' },
  'backup/documented': { says: 'every command line of docs/operations.md does what the page says' },
  'copy/exact': { says: 'a copy has every row of the ledger, and its root, on either engine' },
  'copy/usable': { says: 'a finished copy works like any other ledger' },
  'copy/older': {
    says: 'copy takes a ledger of an older version, which it does not change, and updates a copy of one',
  },
  'copy/again': { says: 'running copy again adds only the new entries' },
  'copy/under-fire': { says: 'a copy taken while servers write is valid and a prefix of what they wrote' },
  'copy/resumed': { says: 'an interrupted copy resumes where it stopped, and no server uses it before it is finished' },
  'copy/refusals': { says: 'a copy that would mix two ledgers, or hide a change of one, is refused' },
  'copy/secrets': { says: 'copy prints no password of a URL' },
} as const satisfies Record<string, Promised>;
