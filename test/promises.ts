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
  'door/exports': { says: 'the library exports what its contract names and nothing else' },
  'door/list': { says: 'tools/list shows what the mode admits' },
  'door/actor': { says: 'the actor is the agent id, else the name of the client, else unknown' },
  'door/generations': { says: 'both generations of the protocol are served' },
  'door/definitions': { says: 'a definition is lean, explicit, and covers failures' },
  'chain/patterns': { says: 'a failed rule shows in the pattern of its tool' },
  'chain/internal': { says: 'a bug is INTERNAL, its text stays in the log' },
  'chain/enter-fails': { says: 'a call that cannot be recorded does not run' },
  'chain/exit-fails': { says: 'a result that cannot be recorded is not given' },
  'chain/undone': { says: 'a failed call leaves no change behind, and the ledger whole' },
  'chain/invalid-issues': { says: 'a refused input lists every problem' },
  'chain/not-canonical': { says: 'an input that could not be hashed faithfully is refused with its path' },
  'chain/unknown-tool': { says: 'an unknown tool is a protocol error and still one pair' },
  'chain/admission': { says: 'a tool that the mode does not admit is refused, as one pair' },
  'boot/uncaught': { says: 'an uncaught error is logged and ends the process with 1' },
  'boot/gate': { says: 'calls wait for the ledger, except those that do not need it' },
  'boot/early-recorded': { says: 'calls answered before the ledger was open are recorded in it, in order' },
  'boot/degraded': { says: 'a server whose ledger cannot be opened stays up and says so' },
  'boot/drains': { says: 'stop answers what was asked and closes what was opened' },
  'config/variables': { says: 'each variable takes its allowed values, and an empty one counts as none' },
  'config/refused': { says: 'a bad value is refused by name, with what is allowed' },
  'config/frozen': { says: 'the configuration cannot be changed' },
  'stdio/lines': { says: 'messages are lines, however the pipe cuts them' },
  'stdio/garbage': { says: 'what is not a message is refused, and the next message works' },
  'stdio/oversized': { says: 'an oversized message is refused by its id, and the next message works' },
  'stdio/flow': { says: 'a client that asks too much waits, and none is forgotten' },
  'stdio/idle': { says: 'a transport is idle when every answer owed is written' },
  'stdio/gone': { says: 'a client that goes away ends the connection' },
  'tidy/rules': { says: 'the repository keeps its house rules' },
} as const satisfies Record<string, Promised>;

export type PromiseId = keyof typeof PROMISES;
