import type { Reader, Transaction } from '../db/database.ts';
import { formatVerifierKey, keyStatementText } from '../integrity/index.ts';
import { append } from '../ledger/append.ts';
import type { SigningKey } from './signing-key.ts';

export interface LedgerKey {
  /** Index of the entry that introduced the key. */
  readonly idx: number;
  /** `name+id+key`. */
  readonly key: string;
  readonly replaces: string | null;
}

/** Every key that ever signed for this log, oldest first. A key that another one replaces signs no longer. */
export function listKeys(db: Reader): Promise<LedgerKey[]> {
  return db.query<LedgerKey>('SELECT idx, key, replaces FROM ledger_keys ORDER BY idx');
}

export async function findKey(db: Reader, key: string): Promise<LedgerKey | undefined> {
  const [row] = await db.query<LedgerKey>('SELECT idx, key, replaces FROM ledger_keys WHERE key = $1', [key]);
  return row;
}

/** Returns true if another key has replaced this one. */
export async function isReplaced(db: Reader, key: string): Promise<boolean> {
  const rows = await db.query('SELECT 1 FROM ledger_keys WHERE replaces = $1', [key]);
  return rows.length > 0;
}

export interface KeyIntroduction {
  readonly origin: string;
  readonly key: SigningKey;
  /** The key that signed until now. */
  readonly replaces?: SigningKey;
  readonly actor: string;
  readonly at: string;
}

/** Appends the entry that introduces a key, signed by it and by the key that it replaces. Returns its index. */
export async function addKey(db: Transaction, { origin, key, replaces, actor, at }: KeyIntroduction): Promise<number> {
  const names = {
    key: formatVerifierKey(key.verifierKey(origin)),
    ...(replaces !== undefined && { replaces: formatVerifierKey(replaces.verifierKey(origin)) }),
  };
  const text = keyStatementText(names);
  const index = await append(db, {
    v: 1,
    kind: 'key.added',
    at,
    actor,
    ...names,
    signature: key.signText(text),
    ...(replaces !== undefined && { replaces_signature: replaces.signText(text) }),
  });
  db.send('INSERT INTO ledger_keys (idx, key, replaces) VALUES ($1, $2, $3)', [
    index,
    names.key,
    names.replaces ?? null,
  ]);
  return index;
}
