import type { Promised } from './promises-server.ts';

/** What holds although the disk, the process or the power fails, and what an attacker does not get. */
export const ERROR_PROMISES = {
  'fault/enter': { says: 'a call that cannot be recorded does not run' },
  'fault/health': {
    says: 'server_health answers although its call cannot be recorded, and says so; every other tool refuses',
  },
  'fault/exit': { says: 'an exit that could not be recorded is recorded at the next call' },
  'fault/killed': { says: 'a call whose process died is closed as interrupted, once' },
  'fault/thrown': { says: 'whatever a tool throws is recorded as a bug' },
  'fault/degraded': { says: 'a server without its ledger stays up and reports why' },
  'fault/recovers': { says: 'a server started without its ledger works as soon as the ledger is available' },
  'fault/own-files': { says: 'a file that Colibri writes beside the ledger is whole or absent, whatever fails' },
  'fault/full-disk': { says: 'every command says the same about a full disk: what is wrong, and what to do' },
  'fault/full': { says: 'a full disk loses nothing that was acknowledged' },

  'upgrade/kept': { says: 'a ledger that an earlier version has written opens and verifies with the same root' },
  'upgrade/killed': { says: 'a migration that is killed changes nothing, and the next server completes it' },
  'upgrade/later': { says: 'a ledger that a later version has written is refused and stays as it is' },

  'supply/install-scripts': { says: 'an installation runs one script of ours and none of a dependency' },
  'supply/sbom': { says: 'the package has a bill of materials of what its bundles contain' },
  'supply/workflows': { says: 'workflows run pinned actions with the permissions that they need' },
  'security/modes': { says: 'every file that Colibri creates for itself is readable by its owner only' },
  'security/network': { says: 'no process opens a network socket unless a database URL or a witness is configured' },
  'security/prototypes': { says: 'no JSON input changes a prototype' },
  'security/logs': { says: 'what agents write does not reach the log, at any level' },
  'security/sql': { says: 'values reach SQL as bound parameters only' },
  'security/patterns': { says: 'no input makes a regular expression run away' },
} as const satisfies Record<string, Promised>;
