import type { Promised } from './promises-server.ts';

/** What holds although the disk, the process or the power fails, and what an attacker does not get. */
export const FAULT_PROMISES = {
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
  'fault/full': { says: 'a full disk loses nothing that was acknowledged' },

  'upgrade/kept': { says: 'a ledger that an earlier version has written opens and verifies with the same root' },
  'upgrade/killed': { says: 'a migration that is killed changes nothing, and the next server completes it' },
  'upgrade/later': { says: 'a ledger that a later version has written is refused and stays as it is' },
} as const satisfies Record<string, Promised>;
