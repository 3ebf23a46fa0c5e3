import type { Readable } from 'node:stream';

/** Reads a stream of bytes piece by piece. Memory is bounded by the longest piece that a caller keeps. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: Readable) {
    this.#chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** The bytes up to the separator; undefined at the end of the stream. Drops what exceeds `most` bytes. */
  async until(separator: number, most: number): Promise<Buffer | undefined> {
    const kept: Buffer[] = [];
    let length = 0;
    const keep = (bytes: Buffer) => {
      if (length < most) kept.push(bytes.subarray(0, most - length));
      length += bytes.length;
    };
    for (;;) {
      const at = this.#rest.indexOf(separator);
      if (at !== -1) {
        keep(this.#rest.subarray(0, at));
        this.#rest = this.#rest.subarray(at + 1);
        return Buffer.concat(kept);
      }
      keep(this.#rest);
      if (!(await this.#more())) return length === 0 ? undefined : Buffer.concat(kept);
    }
  }

  /** The next bytes, at most `most` of them; `see` gets all. */
  async take(count: number, most: number, see: (bytes: Buffer) => void = () => undefined): Promise<Buffer> {
    const kept: Buffer[] = [];
    for (let taken = 0; taken < count; ) {
      if (this.#rest.length === 0 && !(await this.#more())) break;
      const piece = this.#rest.subarray(0, count - taken);
      see(piece);
      if (taken < most) kept.push(piece.subarray(0, most - taken));
      taken += piece.length;
      this.#rest = this.#rest.subarray(piece.length);
    }
    return Buffer.concat(kept);
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#chunks.next();
    this.#rest = done === true ? Buffer.alloc(0) : value;
    return done !== true;
  }
}
