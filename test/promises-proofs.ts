import type { Promised } from './promises-server.ts';

/** What a person can show to others, and what that proves. */
export const PROOF_PROMISES = {
  'checkpoint/signed': { says: 'a checkpoint is signed after a sealed session, when a server stops, and on demand' },
  'checkpoint/extends': { says: 'checkpoint --check tells whether the log extends an earlier checkpoint' },
  'checkpoint/rollback': { says: 'a log that does not extend what was signed is served read-only, and says why' },
  'checkpoint/continue': {
    says: 'only a person continues a log that was rolled back, as a new log that names the old',
  },
  'checkpoint/committed': {
    says: 'a checkpoint can be committed, so that the remote and CI notice a log that was rolled back or forked',
  },
  'checkpoint/compared': { says: 'two committed checkpoints are compared without the ledger' },
  'checkpoint/receipt': { says: 'every changing call carries a receipt that proves its place in the log' },
  'key/private': { says: 'the signing key is readable by its owner only, outside of the ledger, and in no output' },
  'key/refused': { says: 'a signing key that others could read or replace is refused, and the server works on' },
  'key/rotation': { says: 'a new key is introduced by an entry that the old and the new key have signed' },
  'bundle/holds': { says: 'a bundle or a proof is checked without a ledger, and each claim about it is stated' },
  'bundle/envelope': { says: 'a proof in a COSE receipt or a DSSE envelope holds as the proof alone does' },
  'bundle/stories': { says: 'a second history of a log never passes for the first' },
  'bundle/strict': { says: 'a bundle, proof, checkpoint or key in any form but the one that is written is refused' },
  'bundle/redacted': { says: 'a bundle can leave out all content and still prove the log' },
  'bundle/forged': { says: 'a bundle or a proof that was changed is refused, and never called whole' },
  'bundle/key': { says: 'a bundle proves nothing without the key of its log' },
  'bundle/refused': { says: 'an export has one subject and never overwrites a file' },
  'format/page': { says: 'docs/proof-format.md says what the code does' },
  'witness/cosigns': { says: 'a witness cosigns a log that grows, by C2SP tlog-witness 1.0.0' },
  'witness/verified': { says: 'verify states which witnesses have cosigned and when, and what is missing or stale' },
  'witness/disagrees': { says: 'a witness reveals a log that was rolled back, and two stories for two readers' },
  'witness/refused': {
    says: 'an answer that is no cosignature of this checkpoint by the key of the witness is refused',
  },
  'witness/configured': { says: 'only the user names witnesses, outside of the repository, with https and their keys' },
  'witness/background': { says: 'a server asks witnesses beside its calls: no call and no shutdown waits for them' },
  'witness/off': { says: 'without a witness no connection is opened' },
  'publish/tiles': { says: 'publish writes C2SP tiles with the root of the checkpoint, and adds only new files' },
  'publish/fork': { says: 'publish never mixes two logs or two histories in one folder' },
} as const satisfies Readonly<Record<string, Promised>>;
