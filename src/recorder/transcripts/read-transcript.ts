import { parseJson } from '../../integrity/index.ts';
import { asObject } from '../clients/fields.ts';
import { openTranscript, TranscriptRefused } from './open-transcript.ts';
import { EMPTY, type LineReader, type Transcript, TranscriptBuilder, type TranscriptFormat } from './transcript.ts';

/** Limits that no session of a person reaches. */
export interface ReadLimits {
  readonly maxBytes: number;
  readonly maxLineBytes: number;
}

const LIMITS: ReadLimits = { maxBytes: 268_435_456, maxLineBytes: 16_777_216 };
const CHUNK_BYTES = 262_144;
const LINE_FEED = 0x0a;

/** Never throws: what could not be read is the defect of the transcript. Yields to other work between chunks. */
export async function readTranscript(
  format: TranscriptFormat,
  path: string,
  home: string | undefined,
  limits: ReadLimits = LIMITS,
): Promise<Transcript> {
  try {
    const handle = await openTranscript(path, home);
    try {
      return await readLines(format, handle, limits);
    } finally {
      await handle.close();
    }
  } catch (error) {
    const reason = error instanceof TranscriptRefused ? error.message : 'cannot be read';
    return { ...EMPTY, defect: reason };
  }
}

export interface Source {
  stat(): Promise<{ readonly size: number }>;
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>;
}

/** Only what the file contains now is read, because a client may continue to write. */
export async function readLines(format: TranscriptFormat, source: Source, limits: ReadLimits): Promise<Transcript> {
  const { size } = await source.stat();
  const end = Math.min(size, limits.maxBytes);
  const lines = new LineParser(format, limits.maxLineBytes);
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let position = 0; position < end; ) {
    const { bytesRead } = await source.read(chunk, 0, Math.min(CHUNK_BYTES, end - position), position);
    // The file was truncated.
    if (bytesRead === 0) break;
    lines.add(chunk.subarray(0, bytesRead));
    position += bytesRead;
  }
  return lines.finish(size > limits.maxBytes ? `is longer than ${limits.maxBytes.toLocaleString('en')} bytes` : null);
}

class LineParser {
  readonly #marks: readonly Buffer[];
  readonly #maxLineBytes: number;
  readonly #read: LineReader;
  readonly #builder = new TranscriptBuilder();
  #pieces: Buffer[] = [];
  #length = 0;
  #tooLong = 0;
  #broken = 0;

  constructor({ marks, open }: TranscriptFormat, maxLineBytes: number) {
    this.#marks = marks.map((mark) => Buffer.from(mark));
    this.#maxLineBytes = maxLineBytes;
    this.#read = open();
  }

  add(chunk: Buffer): void {
    let begin = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, begin)) {
      this.#keep(chunk.subarray(begin, end));
      this.#endLine();
      begin = end + 1;
    }
    this.#keep(chunk.subarray(begin));
  }

  /** A line without an end is still being written, unless it is a whole one. */
  finish(defect: string | null): Transcript {
    const broken = this.#broken;
    this.#endLine();
    this.#broken = broken;
    return this.#builder.finish(defect ?? this.#describeLoss());
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length <= this.#maxLineBytes) this.#pieces.push(Buffer.from(piece));
    else this.#pieces = [];
  }

  #endLine(): void {
    const line = Buffer.concat(this.#pieces);
    if (this.#length > this.#maxLineBytes) this.#tooLong += 1;
    else if (this.#marks.some((mark) => line.includes(mark))) this.#parse(line);
    this.#pieces = [];
    this.#length = 0;
  }

  /** One line that cannot be understood must not hide the others. */
  #parse(line: Buffer): void {
    try {
      const value = asObject(parseJson(line.toString('utf8')));
      if (value === undefined) this.#broken += 1;
      else for (const fact of this.#read(value)) this.#builder.add(fact);
    } catch {
      this.#broken += 1;
    }
  }

  #describeLoss(): string | null {
    if (this.#tooLong > 0) return `has ${this.#tooLong} lines that are too long`;
    return this.#broken > 0 ? `has ${this.#broken} lines that cannot be read` : null;
  }
}
