import { BadFormat } from '../bad-format.ts';
import { decodeBase64 } from './base64.ts';
import { isSignedBy } from './ed25519.ts';
import { parseVerifierKey, type VerifierKey } from './signed-note.ts';

/** The fields of an entry that introduces a key of the log. */
export interface KeyStatement {
  /** `name+id+key`, as people pin it; the name is the origin of the log. */
  readonly key: string;
  /** Self-signature: proves possession of the private key. */
  readonly signature: string;
  /** The replaced key, and its signature. */
  readonly replaces?: string;
  readonly replaces_signature?: string;
}

const HEADER = 'colibri-key/v1';

/** What the keys of a statement sign. No checkpoint can have this text: its second line would be a number. */
export function keyStatementText({ key, replaces }: Pick<KeyStatement, 'key' | 'replaces'>): string {
  return `${[HEADER, key, ...(replaces === undefined ? [] : [replaces])].join('\n')}\n`;
}

/** What is wrong with a statement by itself; undefined if every signature in it holds. */
export function keyStatementDefect(statement: KeyStatement): string | undefined {
  const { key, signature, replaces, replaces_signature } = statement;
  try {
    if ((replaces === undefined) !== (replaces_signature === undefined)) return 'replaces a key without its signature';
    const name = parseNoteKey(key).name;
    if (replaces === key) return 'replaces a key with itself';
    if (replaces !== undefined && parseNoteKey(replaces).name !== name) return 'replaces a key of another log';
    const text = keyStatementText(statement);
    if (!isSigned(key, text, signature)) return 'is not signed by its key';
    if (replaces !== undefined && !isSigned(replaces, text, replaces_signature ?? ''))
      return 'is not signed by the key that it replaces';
    return undefined;
  } catch (error) {
    if (error instanceof BadFormat) return `has a bad key or signature: ${error.message}`;
    throw error;
  }
}

function parseNoteKey(text: string): VerifierKey {
  const key = parseVerifierKey(text);
  if (key.type !== 'note') throw new BadFormat('the key is that of a witness');
  return key;
}

function isSigned(key: string, text: string, signature: string): boolean {
  return isSignedBy(parseVerifierKey(key).publicKey, new TextEncoder().encode(text), decodeBase64(signature, 'it'));
}
