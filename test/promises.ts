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

  'integrity/tree': { says: 'roots and proofs are those of RFC 6962' },
  'integrity/proofs': { says: 'an honest proof is accepted' },
  'integrity/forgeries': { says: 'a forged proof is refused' },
  'integrity/large-logs': { says: 'trees and proofs hold beyond 2^32 entries' },
  'integrity/one-text': { says: 'one value has one canonical text' },
  'integrity/faithful': { says: 'a value that JSON cannot carry is refused' },
  'integrity/strict-entry': { says: 'only the canonical text of an entry is read as one' },
  'integrity/salted-digest': { says: 'a digest is salted and says which field it is of' },
  'integrity/vectors': { says: 'the published vectors get the verdict that they state' },
  'integrity/browser': { says: 'a browser comes to the same verdicts as Node' },
} as const satisfies Record<string, Promised>;

export type PromiseId = keyof typeof PROMISES;
