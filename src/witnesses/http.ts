import { AdvisedError, toError } from '../errors.ts';

export interface HttpRequest {
  readonly body: Uint8Array | string;
  readonly type: string;
  /** A longer answer is refused. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer;
}

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);
const MAX_URL_LENGTH = 1024;

/** What is wrong with an address that requests are sent to; undefined if nothing is. */
export function urlDefect(text: string): string | undefined {
  if (!URL.canParse(text) || text.length > MAX_URL_LENGTH) return 'is not a URL';
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  const isPrivate = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.has(hostname));
  if (!isPrivate) return 'does not begin with https://';
  if (username !== '' || password !== '') return 'has a password in it';
  return search === '' && hash === '' ? undefined : 'has a query or a fragment';
}

/** Sends one request. Redirects are not followed: only the user decides where requests go. */
export async function post(url: string, request: HttpRequest): Promise<HttpAnswer> {
  const { body, type, maxBytes, timeoutMs, signal } = request;
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await fetch(url, {
      method: 'POST',
      // A view of a larger buffer would be sent as a whole.
      body: typeof body === 'string' ? body : Uint8Array.from(body),
      headers: { 'content-type': type },
      redirect: 'manual',
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
    });
    const received = await readBounded(answer, maxBytes);
    return { status: answer.status, type: answer.headers.get('content-type') ?? '', body: received };
  } catch (error) {
    if (error instanceof AdvisedError) throw error;
    if (timeout.aborted) throw new AdvisedError(`did not answer within ${timeoutMs / 1000} s`, { cause: error });
    throw new AdvisedError(`cannot be reached: ${reasonOf(error)}`, { cause: error });
  }
}

async function readBounded({ body }: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > maxBytes) throw new AdvisedError(`answered with more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The message of fetch itself is always "fetch failed". */
function reasonOf(thrown: unknown): string {
  const { cause, message } = toError(thrown);
  return cause instanceof Error ? cause.message || ('code' in cause ? String(cause.code) : message) : message;
}
