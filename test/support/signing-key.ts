import { createPrivateKey } from 'node:crypto';
import { SigningKey } from '../../src/checkpoints/signing-key.ts';

const keys = new Map<number, SigningKey>();

/** The same key for the same number. */
export function signingKey(number: number): SigningKey {
  const known = keys.get(number) ?? createKey(number);
  keys.set(number, known);
  return known;
}

function createKey(number: number): SigningKey {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.alloc(32, number)]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return new SigningKey('signing-key.pem', key.export({ format: 'pem', type: 'pkcs8' }).toString());
}
