/**
 * What the product promises, in the words of its users. Every promise is kept by at least one test that cites it
 * (`keeps('…')`); promises.test.ts checks both directions. `seed` is the number that the server's contract gives it.
 */
interface Promised {
  readonly says: string;
  readonly seed?: string;
}

export const PROMISES = {
  'door/version': { says: 'a server reports the version of its package', seed: 'T-1' },
  'door/version-override': { says: 'an embedder may name another version', seed: 'T-2' },
  'door/mode-override': { says: 'an embedder may name the mode', seed: 'T-3' },
  'door/inert': { says: 'building a server connects nothing', seed: 'T-4' },
  'door/no-handlers': { says: 'building a server installs no process handlers', seed: 'T-5' },
  'door/config': { says: 'a server builds from a valid environment', seed: 'T-6' },
  'door/own-sink': { says: "an embedder's audit sink sees the calls", seed: 'T-7' },
  'door/register': { says: 'a registered tool can be found', seed: 'T-8' },
  'door/register-once': { says: 'a name can be registered once', seed: 'T-9' },
  'door/register-name': { says: 'a tool name is snake case', seed: 'T-10' },
  'door/register-schema': { says: 'a tool needs a Zod object as its input schema', seed: 'T-11' },
  'chain/ping': { says: 'server_ping answers with version, mode and uptime', seed: 'T-12' },
  'chain/uptime': { says: 'uptime is never negative', seed: 'T-13' },
  'chain/pair': { says: 'a call is one enter and one exit with one correlation id', seed: 'T-14' },
  'chain/success-exit': { says: 'the exit of a success carries the result and no error', seed: 'T-15' },
  'chain/failure-exit': { says: 'the exit of a failure carries the thrown error and no result', seed: 'T-16' },
  'chain/serial': { says: 'calls run one at a time, first come, first served', seed: 'T-17' },
  'chain/invalid-pair': { says: 'a refused input is INVALID_PARAMS and still one pair', seed: 'T-18' },
  'boot/starts': { says: 'start resolves when the transport has started', seed: 'T-19' },
  'boot/timeout': { says: 'start gives up on a transport that never starts', seed: 'T-20' },
  'boot/handlers': { says: 'start installs handlers for uncaught errors', seed: 'T-21' },
  'boot/handlers-once': { says: 'a second start installs no second handlers', seed: 'T-22' },
  'boot/stops': { says: 'stop closes the transport', seed: 'T-23' },
  'door/stdout': { says: 'stdout is not tampered with', seed: 'T-24' },
  'door/no-network': { says: 'the server imports nothing that opens a network port', seed: 'T-25' },
  'door/old-names': { says: 'an AMS_ variable keeps a server from being built', seed: 'T-26' },

  'store/values': { says: 'what is written is what is read' },
  'store/parameters': { says: 'a statement with the wrong parameters is refused' },
  'store/all-or-nothing': { says: 'a transaction takes effect as a whole or not at all' },
  'store/turns': { says: 'writers take turns' },
  'store/snapshot': { says: 'a reader sees one state while others write' },
  'store/fair': { says: 'every waiting writer gets its turn' },
  'store/responsive': { says: 'a process that waits for the store goes on with other work' },
  'store/durable': { says: 'an acknowledged change waits for the disk, and nothing else does' },
  'store/alive': { says: 'a process counts as alive until it leaves or dies' },
  'store/pragmas': { says: 'no setting of the database is left to a default' },
  'store/fault-named': { says: 'a store that fails says what is wrong and what to do' },
  'store/untouched': { says: 'a file that Colibri must not use is left as it is' },
  'store/owner-only': { says: 'the ledger is for its owner alone' },

  'ledger/root': { says: 'the root is that of the plain tree over all entries' },
  'ledger/proofs': { says: 'every proof from stored nodes verifies' },
  'ledger/cheap-append': { says: 'an append writes no more rows when the log is long' },
  'ledger/open-check': { says: 'a log that is cut, grown or broken at its ends is not opened' },
  'ledger/tamper': { says: 'verification finds what was changed behind the back' },
  'ledger/fresh': { says: 'an honest ledger verifies' },
  'ledger/once': { says: 'a call ends exactly once' },

  'process/one-log': { says: 'several servers on one file leave one log without fork or gap' },
  'process/one-genesis': { says: 'servers that start together create one ledger' },
  'process/at-once': { says: 'the handshake and a ping are answered at once' },
  'process/generations': { says: 'clients of both protocol generations are served' },
  'process/health': { says: 'health tells the truth about the ledger' },
  'process/modes': { says: 'a mode writes what it may and nothing else' },
  'process/streams': { says: 'stdout carries the protocol alone, and stderr one JSON object a line' },
  'process/shutdown': { says: 'a stopped server answers what it was asked and leaves a clean file' },
  'process/exit-codes': { says: 'a server that cannot start says why and leaves with its code' },
  'process/bad-input': { says: 'bad input is answered or logged, and the next call works' },

  'fault/enter': { says: 'a call that cannot be recorded does not run' },
  'fault/exit': { says: 'an exit that could not be recorded is made up for at the next call' },
  'fault/killed': { says: 'a call whose process died is closed as interrupted, once' },
  'fault/thrown': { says: 'a tool that throws anything at all is a recorded bug' },
  'fault/degraded': { says: 'a server without its ledger stays up and says why' },
  'fault/full': { says: 'a full disk loses nothing that was acknowledged' },
} as const satisfies Record<string, Promised>;

export type PromiseId = keyof typeof PROMISES;
