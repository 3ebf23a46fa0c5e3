import { generateKeyPairSync, type KeyPairKeyObjectResult, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** An authority that lives as long as a test and that nobody else trusts. */
export interface Authority {
  readonly certificate: string;
  /** A certificate for these hosts, with its key. */
  issue(hosts: readonly string[]): { readonly certificate: string; readonly key: string };
}

export function createAuthority(name: string): Authority {
  const own = createKeys();
  const canSign = createExtension(BASIC_CONSTRAINTS, sequence(TRUE));
  return {
    certificate: toPem(createCertificate({ issuer: name, subject: name, signer: own, keys: own, extension: canSign })),
    issue: (hosts) => {
      const keys = createKeys();
      const extension = createExtension(SUBJECT_ALT_NAME, sequence(...hosts.map(toGeneralName)));
      const certificate = createCertificate({ issuer: name, subject: 'server', signer: own, keys, extension });
      const key = keys.privateKey.export({ type: 'pkcs8', format: 'pem' });
      return { certificate: toPem(certificate), key: key.toString() };
    },
  };
}

interface Request {
  readonly issuer: string;
  readonly subject: string;
  readonly signer: KeyPairKeyObjectResult;
  readonly keys: KeyPairKeyObjectResult;
  readonly extension: Buffer;
}

/** As much of RFC 5280, section 4.1, as a TLS library wants to see. */
function createCertificate({ issuer, subject, signer, keys, extension }: Request): Buffer {
  const algorithm = sequence(tlv(0x06, Buffer.from(ECDSA_WITH_SHA256, 'hex')));
  const toBeSigned = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.from([1])),
    algorithm,
    toName(issuer),
    sequence(tlv(0x17, Buffer.from('200101000000Z')), tlv(0x17, Buffer.from('491231235959Z'))),
    toName(subject),
    keys.publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(extension)),
  );
  return sequence(toBeSigned, algorithm, toBits(sign('sha256', toBeSigned, signer.privateKey)));
}

// Object identifiers as they are encoded.
const ECDSA_WITH_SHA256 = '2a8648ce3d040302';
const COMMON_NAME = '550403';
const BASIC_CONSTRAINTS = '551d13';
const SUBJECT_ALT_NAME = '551d11';

function createKeys(): KeyPairKeyObjectResult {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function createExtension(identifier: string, value: Buffer): Buffer {
  return sequence(tlv(0x06, Buffer.from(identifier, 'hex')), tlv(0x04, value));
}

function toName(commonName: string): Buffer {
  const attribute = sequence(tlv(0x06, Buffer.from(COMMON_NAME, 'hex')), tlv(0x0c, Buffer.from(commonName)));
  return sequence(tlv(0x31, attribute));
}

function toGeneralName(host: string): Buffer {
  return isIPv4(host) ? tlv(0x87, Buffer.from(host.split('.').map(Number))) : tlv(0x82, Buffer.from(host));
}

function toBits(bytes: Buffer): Buffer {
  return tlv(0x03, Buffer.concat([Buffer.from([0]), bytes]));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tlv(0x30, Buffer.concat(parts));
}

/** Tag, length, value. */
function tlv(tag: number, value: Buffer): Buffer {
  const { length } = value;
  const size = length < 0x80 ? [length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), value]);
}

const TRUE = tlv(0x01, Buffer.from([0xff]));

function toPem(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
