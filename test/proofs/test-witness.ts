import { createHash, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { SigningProject } from './support.ts';

/**
 * A witness written from the text of C2SP tlog-witness and tlog-cosignature alone: it uses nothing of the product, so
 * that both sides must have read the specification alike.
 */
export class TestWitness {
  /** A deviation from the specification; undefined lets the witness answer as it should. */
  misbehave: ((response: ServerResponse, request: AddCheckpoint) => boolean | undefined) | undefined;
  /** Seconds since 1970. */
  now = () => Math.floor(Date.now() / 1000);
  readonly requests: AddCheckpoint[] = [];
  namesSizeOfFork = false;
  readonly name: string;
  readonly #key = generateKeyPairSync('ed25519');
  readonly #logs = new Map<string, string>();
  readonly #latest = new Map<string, { size: number; root: string }>();
  readonly #server: Server;

  private constructor(name: string) {
    this.name = name;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(name = 'witness.example/w1'): Promise<TestWitness> {
    const witness = new TestWitness(name);
    await new Promise<void>((resolve) => witness.#server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => witness.stop());
    return witness;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get vkey(): string {
    const key = Buffer.concat([Buffer.from([4]), this.#publicKey()]);
    return `${this.name}+${this.#keyId().toString('hex')}+${key.toString('base64')}`;
  }

  /** Trusts a log: its origin is the name of its key. */
  trust(logKey: string): void {
    this.#logs.set(logKey.split('+')[0] ?? '', logKey);
  }

  sizeOf(logKey: string): number | undefined {
    return this.#latest.get(logKey.split('+')[0] ?? '')?.size;
  }

  cosign(body: string, time = this.now()): string {
    const message = `cosignature/v1\ntime ${time}\n${body}`;
    const stamp = Buffer.alloc(8);
    stamp.writeBigUInt64BE(BigInt(time));
    const signature = Buffer.concat([this.#keyId(), stamp, sign(null, Buffer.from(message), this.#key.privateKey)]);
    return `— ${this.name} ${signature.toString('base64')}\n`;
  }

  async #answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    if (message.method !== 'POST' || message.url !== '/add-checkpoint') return end(response, 404);
    const request = parseRequest(await readText(message));
    if (request === undefined) return end(response, 400);
    this.requests.push(request);
    if (this.misbehave?.(response, request)) return;
    this.#judge(request, response);
  }

  /** In the order of the specification. */
  #judge(request: AddCheckpoint, response: ServerResponse): void {
    const { oldSize, proof, body, origin, size, root, signatures } = request;
    const logKey = this.#logs.get(origin);
    if (logKey === undefined) return end(response, 404);
    if (!isSigned(body, signatures, logKey)) return end(response, 403);
    if (oldSize > size) return end(response, 400);
    const latest = this.#latest.get(origin) ?? { size: 0, root: EMPTY };
    if (oldSize !== latest.size) return end(response, 409, `${latest.size}\n`, 'text/x.tlog.size');
    // The specification asks for no size in this answer; witnesses that exist send it, or do not.
    if (oldSize === size && root !== latest.root)
      return this.namesSizeOfFork ? end(response, 409, `${latest.size}\n`, 'text/x.tlog.size') : end(response, 409);
    if (oldSize === 0 ? proof.length > 0 : !isConsistent(oldSize, size, proof, latest.root, root))
      return end(response, 422);
    this.#latest.set(origin, { size, root });
    end(response, 200, this.cosign(body));
  }

  #publicKey(): Buffer {
    return this.#key.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  }

  #keyId(): Buffer {
    return keyIdOf(this.name, 4, this.#publicKey());
  }
}

export interface AddCheckpoint {
  readonly oldSize: number;
  /** Base64. */
  readonly proof: readonly string[];
  /** The note body: what is signed. */
  readonly body: string;
  readonly origin: string;
  readonly size: number;
  readonly root: string;
  readonly signatures: readonly string[];
}

const EMPTY = createHash('sha256').digest('base64');

export function end(response: ServerResponse, status: number, body = '', type = 'text/plain'): void {
  response.writeHead(status, { 'content-type': type }).end(body);
}

/** Undefined for what the specification calls malformed. */
function parseRequest(text: string): AddCheckpoint | undefined {
  const [head = '', ...rest] = text.split('\n\n');
  const [old = '', ...proof] = head.split('\n');
  const [body = '', signatures = ''] = rest;
  const [origin = '', size = '', root = ''] = body.split('\n');
  const decimal = /^(?:0|[1-9]\d*)$/;
  const isHash = (line: string) => Buffer.from(line, 'base64').length === 32;
  const [word, oldSize = ''] = old.split(' ');
  const isWellFormed =
    rest.length === 2 &&
    word === 'old' &&
    decimal.test(oldSize) &&
    decimal.test(size) &&
    proof.length <= 63 &&
    [...proof, root].every(isHash) &&
    origin !== '' &&
    signatures.endsWith('\n');
  if (!isWellFormed) return undefined;
  const lines = signatures.trimEnd().split('\n');
  return { oldSize: Number(oldSize), proof, body: `${body}\n`, origin, size: Number(size), root, signatures: lines };
}

function isSigned(body: string, signatures: readonly string[], logKey: string): boolean {
  const [name = ''] = logKey.split('+', 1);
  const encoded = logKey.split('+').slice(2).join('+');
  const publicKey = Buffer.from(encoded, 'base64').subarray(1);
  const own = signatures
    .map((line) => line.split(' '))
    .filter(([, signer]) => signer === name)
    .map(([, , signature = '']) => Buffer.from(signature, 'base64'))
    .filter((bytes) => bytes.subarray(0, 4).equals(keyIdOf(name, 1, publicKey)));
  const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), publicKey]);
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  return own.length > 0 && own.every((bytes) => verify(null, Buffer.from(body), key, bytes.subarray(4)));
}

function keyIdOf(name: string, type: number, publicKey: Buffer): Buffer {
  const text = Buffer.concat([Buffer.from(`${name}\n`), Buffer.from([type]), publicKey]);
  return createHash('sha256').update(text).digest().subarray(0, 4);
}

/** RFC 6962 2.1.2 read backwards: SUBPROOF(m, D[n], b) is consumed in the order in which it is built. */
function isConsistent(m: number, n: number, proof: readonly string[], oldRoot: string, root: string): boolean {
  const rest = [...proof];
  const next = () => {
    const hash = rest.shift();
    if (hash === undefined) throw new RangeError('the proof is too short');
    return hash;
  };
  const walk = (from: number, to: number, isWhole: boolean): [string, string] => {
    if (from === to) {
      const hash = isWhole ? oldRoot : next();
      return [hash, hash];
    }
    let k = 1;
    while (k * 2 < to) k *= 2;
    if (from <= k) {
      const [left, whole] = walk(from, k, isWhole);
      return [left, node(whole, next())];
    }
    const [old, whole] = walk(from - k, to - k, false);
    const left = next();
    return [node(left, old), node(left, whole)];
  };
  try {
    const [foundOld, found] = walk(m, n, true);
    return rest.length === 0 && foundOld === oldRoot && found === root;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function node(left: string, right: string): string {
  const children = [Buffer.from([1]), Buffer.from(left, 'base64'), Buffer.from(right, 'base64')];
  return createHash('sha256').update(Buffer.concat(children)).digest('base64');
}

/** A project whose log two parties know: its user, and a witness that trusts its key. */
export async function createWitnessed(
  name?: string,
): Promise<{ project: SigningProject; witness: TestWitness; key: string }> {
  const project = new SigningProject();
  await project.colibri('add', 'one');
  const key = (await project.colibri('key')).stdout.trim();
  const witness = await TestWitness.start(name);
  witness.trust(key);
  await project.colibri('witness', 'add', witness.url, '--key', witness.vkey);
  return { project, witness, key };
}
