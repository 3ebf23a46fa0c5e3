/** The part of libuv's pipe that is used here, as Node wraps it for `process.stdin`. */
interface PipeHandle {
  open(fd: number): number | undefined;
  readStart(): number;
  close(): void;
  onread: (bytes: ArrayBuffer | undefined) => void;
}

interface PipeBinding {
  readonly Pipe: new (type: number) => PipeHandle;
  readonly constants: { readonly SOCKET: number };
}

interface StreamBinding {
  readonly streamBaseState: Int32Array;
  readonly kReadBytesOrError: number;
  readonly kArrayBufferOffset: number;
}

export interface PipeReader {
  readonly onData: (chunk: Buffer) => void;
  readonly onEnd: () => void;
  readonly onError: (error: Error) => void;
}

/** libuv's number for the end of a stream, on every system. */
const END_OF_FILE = -4095;

/**
 * Reads standard input, a pipe or a socket, without `process.stdin`, whose streams take a hook longer to load than all
 * that it does besides. Returns what stops reading; undefined if this Node offers no such handle, or not in this form.
 */
export function readPipe({ onData, onEnd, onError }: PipeReader): (() => void) | undefined {
  const [pipes, streams] = [loadBinding('pipe_wrap'), loadBinding('stream_wrap')];
  if (!isPipeBinding(pipes) || !isStreamBinding(streams)) return undefined;
  const { streamBaseState: state, kReadBytesOrError, kArrayBufferOffset } = streams;
  const handle = new pipes.Pipe(pipes.constants.SOCKET);
  handle.onread = (bytes) => {
    const result = state[kReadBytesOrError] ?? END_OF_FILE;
    if (bytes !== undefined) return onData(Buffer.from(bytes, state[kArrayBufferOffset], result));
    handle.close();
    return result === END_OF_FILE ? onEnd() : onError(new Error(`reading standard input failed with ${result}`));
  };
  try {
    if ((handle.open(0) ?? 0) !== 0 || handle.readStart() !== 0) throw new Error('not readable as a pipe');
  } catch {
    // Nothing has been read.
    handle.close();
    return undefined;
  }
  return () => handle.close();
}

/** Node may remove the function: the caller then reads the stream. A warning that it is deprecated is not printed. */
function loadBinding(name: string): unknown {
  const { binding } = process as { binding?: (name: string) => unknown };
  const { noDeprecation } = process;
  process.noDeprecation = true;
  try {
    return binding?.call(process, name);
  } catch {
    return undefined;
  } finally {
    process.noDeprecation = noDeprecation === true;
  }
}

function isPipeBinding(value: unknown): value is PipeBinding {
  const { Pipe, constants } = (value ?? {}) as Partial<PipeBinding>;
  return typeof Pipe === 'function' && typeof constants?.SOCKET === 'number';
}

function isStreamBinding(value: unknown): value is StreamBinding {
  const { streamBaseState, kReadBytesOrError, kArrayBufferOffset } = (value ?? {}) as Partial<StreamBinding>;
  const places = [kReadBytesOrError, kArrayBufferOffset];
  return streamBaseState instanceof Int32Array && places.every((place) => typeof place === 'number');
}
