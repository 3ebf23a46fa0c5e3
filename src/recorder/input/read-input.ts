import { fstatSync, readSync } from 'node:fs';
import { type PipeReader, readPipe } from './pipe-handle.ts';
import { limitTime } from './time-limit.ts';

/** Longer events are recorded as unreadable. The largest answers that clients pass to a model are far shorter. */
const MAX_EVENT_BYTES = 16_777_216;
/** Some clients leave standard input open. What arrived until then is the event. */
const READ_LIMIT_MS = 1500;
const CHUNK_BYTES = 65_536;

export interface Input {
  readonly text: string;
  readonly isCut: boolean;
  readonly hasEnded: boolean;
}

/** Undefined for a terminal. Reads a pipe to its end even if the event is too long: a client may not expect a break. */
export async function readInput(): Promise<Input | undefined> {
  const stats = fstatSync(0);
  if (stats.isFile()) return readFile();
  const isPipe = process.platform !== 'win32' && (stats.isFIFO() || stats.isSocket());
  if (!isPipe && process.stdin.isTTY) return undefined;
  return readUntil((reader) => (isPipe ? readPipe(reader) : undefined) ?? readStream(reader));
}

class Collected {
  readonly #chunks: Buffer[] = [];
  #length = 0;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  get isCut(): boolean {
    return this.#length > MAX_EVENT_BYTES;
  }

  add(chunk: Buffer): void {
    this.#length += chunk.length;
    if (!this.isCut) this.#chunks.push(chunk);
  }

  finish(hasEnded: boolean): Input {
    const text = Buffer.concat(this.#chunks).toString('utf8');
    return { text, isCut: this.isCut, hasEnded };
  }
}

/** Without a time limit, because a file ends by itself. */
function readFile(): Input {
  const collected = new Collected();
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const length = readSync(0, chunk);
    collected.add(chunk.subarray(0, length));
    if (length === 0 || collected.isCut) return collected.finish(true);
  }
}

/** `begin` returns what ends the process even if the client keeps its end open. */
function readUntil(begin: (reader: PipeReader) => () => void): Promise<Input> {
  const collected = new Collected();
  return new Promise((resolve, reject) => {
    const stopTimer = limitTime(READ_LIMIT_MS, () => {
      resolve(collected.finish(false));
      stopReading();
    });
    const stopReading = begin({
      onData: (chunk) => collected.add(chunk),
      onEnd: () => {
        stopTimer();
        resolve(collected.finish(true));
      },
      onError: (error) => {
        stopTimer();
        // A client that is gone may have sent the whole event: Node 24 reports the error after the data.
        if (collected.isEmpty) reject(error);
        else resolve(collected.finish(false));
      },
    });
  });
}

/** On every Node and system. */
function readStream({ onData, onEnd, onError }: PipeReader): () => void {
  const { stdin } = process;
  stdin.on('data', onData);
  stdin.on('end', onEnd);
  stdin.on('error', onError);
  return () => stdin.destroy();
}
