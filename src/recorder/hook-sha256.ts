export type Digest = string;
export type RawDigest = string;

/** Up to this sum of lengths, loading node:crypto takes longer than hashing without it. */
const MAX_SMALL_LENGTH = 65_536;
/** Added to the length of every text, so that many short ones count too. */
const LENGTH_OF_CALL = 64;
let hashed = 0;

/**
 * The builds of `colibri hook` swap sha256.ts for this file: a hook hashes little, and must start quickly. The portable
 * implementation takes longer to load than to run, because it prepares for every other hash function of its family.
 */
export function sha256(data: string | Uint8Array): Digest {
  return isSmall(data) ? digest(data).toString('hex') : loadCrypto().hash('sha256', data, 'hex');
}

export function rawSha256(data: string | Uint8Array): RawDigest {
  // The type files know no such encoding, the manual does.
  return isSmall(data) ? digest(data).toString('latin1') : loadCrypto().hash('sha256', data, 'latin1' as 'hex');
}

function isSmall(data: string | Uint8Array): boolean {
  hashed += Math.min(data.length, MAX_SMALL_LENGTH) + LENGTH_OF_CALL;
  return hashed <= MAX_SMALL_LENGTH;
}

function loadCrypto(): typeof import('node:crypto') {
  return process.getBuiltinModule('node:crypto');
}

/** FIPS 180-4, section 5.3.3. */
const INITIAL = words('6a09e667 bb67ae85 3c6ef372 a54ff53a 510e527f 9b05688c 1f83d9ab 5be0cd19');

/** FIPS 180-4, section 4.2.2. */
const CONSTANTS = words(`
  428a2f98 71374491 b5c0fbcf e9b5dba5 3956c25b 59f111f1 923f82a4 ab1c5ed5 d807aa98 12835b01 243185be 550c7dc3 72be5d74
  80deb1fe 9bdc06a7 c19bf174 e49b69c1 efbe4786 0fc19dc6 240ca1cc 2de92c6f 4a7484aa 5cb0a9dc 76f988da 983e5152 a831c66d
  b00327c8 bf597fc7 c6e00bf3 d5a79147 06ca6351 14292967 27b70a85 2e1b2138 4d2c6dfc 53380d13 650a7354 766a0abb 81c2c92e
  92722c85 a2bfe8a1 a81a664b c24b8b70 c76c51a3 d192e819 d6990624 f40e3585 106aa070 19a4c116 1e376c08 2748774c 34b0bcb5
  391c0cb3 4ed8aa4a 5b9cca4f 682e6ff3 748f82ee 78a5636f 84c87814 8cc70208 90befffa a4506ceb bef9a3f7 c67178f2`);

function words(hex: string): Int32Array {
  return Int32Array.from(hex.trim().split(/\s+/), (word) => Number.parseInt(word, 16));
}

const BLOCK_BYTES = 64;
const ROUNDS = 64;
/** One byte after the text, and eight for its length. */
const MIN_PADDING_BYTES = 9;
const schedule = new Int32Array(ROUNDS);

function digest(data: string | Uint8Array): Buffer {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  const blocks = Math.ceil((bytes.length + MIN_PADDING_BYTES) / BLOCK_BYTES);
  const padded = Buffer.alloc(blocks * BLOCK_BYTES);
  padded.set(bytes);
  padded.writeUInt8(0x80, bytes.length);
  // The text is short: its length in bits fits into half of the eight bytes.
  padded.writeUInt32BE(bytes.length * 8, padded.length - 4);
  const state = INITIAL.slice();
  for (let block = 0; block < blocks; block += 1) compress(state, padded, block * BLOCK_BYTES);
  const result = Buffer.alloc(INITIAL.byteLength);
  for (let index = 0; index < state.length; index += 1) result.writeInt32BE(state[index] as number, index * 4);
  return result;
}

/**
 * FIPS 180-4, section 6.2.2, with its names. Without functions for the rotations: V8 interprets most of it, and they
 * would take it several times as long.
 */
function compress(state: Int32Array, bytes: Buffer, start: number): void {
  for (let t = 0; t < 16; t += 1) schedule[t] = bytes.readInt32BE(start + t * 4);
  for (let t = 16; t < ROUNDS; t += 1) {
    const x = schedule[t - 15] as number;
    const y = schedule[t - 2] as number;
    const sigma0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const sigma1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    schedule[t] = sigma1 + (schedule[t - 7] as number) + sigma0 + (schedule[t - 16] as number);
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let t = 0; t < ROUNDS; t += 1) {
    const sum1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = h + sum1 + ((e & f) ^ (~e & g)) + (CONSTANTS[t] as number) + (schedule[t] as number);
    const sum0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  const sums = [a, b, c, d, e, f, g, h];
  for (let index = 0; index < sums.length; index += 1) state[index] = (state[index] as number) + (sums[index] ?? 0);
}
