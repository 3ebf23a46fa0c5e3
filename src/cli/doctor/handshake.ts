import { spawn } from 'node:child_process';
import { createEnvironment } from '../../config.ts';
import { parseJson } from '../../integrity/index.ts';
import { MODES } from '../../modes.ts';
import { endGroup, trackGroup } from './child-groups.ts';

/** npx may have to download the package first. */
const TIMEOUT_MS = 60_000;
const MAX_OUTPUT = 1_000_000;

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'colibri-doctor', version: '1' } },
};

/** What a client would see that starts this command: the name and version of the server, or why there is none. */
export type Seen =
  | { readonly kind: 'server'; readonly name: string; readonly version: string }
  | { readonly kind: 'noise'; readonly line: string }
  | { readonly kind: 'failed'; readonly reason: string };

/** Starts the command as a client does, sends the handshake, and ends it. */
export function shakeHands(
  [command = '', ...args]: readonly string[],
  variables: Readonly<Record<string, string>>,
  cwd: string,
  timeoutMs: number = TIMEOUT_MS,
): Promise<Seen> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env: environmentOf(variables), stdio: 'pipe', detached: true });
    trackGroup(child);
    const [output, errors] = [collect(child.stdout), collect(child.stderr)];
    const finish = (seen: Seen, signal: NodeJS.Signals = 'SIGTERM'): void => {
      clearTimeout(timer);
      child.removeAllListeners().on('error', () => undefined);
      endGroup(child, signal);
      resolve(seen);
    };
    const timer = setTimeout(
      () => finish({ kind: 'failed', reason: `no answer within ${timeoutMs / 1000} s` }, 'SIGKILL'),
      timeoutMs,
    );
    child.stdout.on('data', () => {
      const seen = readAnswer(output());
      if (seen !== undefined) finish(seen);
    });
    child.on('error', ({ message }) => finish({ kind: 'failed', reason: message }));
    child.on('close', (code, signal) => finish({ kind: 'failed', reason: describeEnd(code, signal, errors()) }));
    // A command that ended at once is reported by its exit code.
    child.stdin.on('error', () => undefined);
    child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
  });
}

/**
 * Without a ledger, because doctor must not create one. An invalid mode is passed on, so that the server reports it.
 */
function environmentOf(variables: Readonly<Record<string, string>>) {
  const mode = variables['COLIBRI_MODE'];
  const isValid = mode === undefined || MODES.some((known) => known === mode);
  return createEnvironment({ ...variables, ...(isValid ? { COLIBRI_MODE: 'MINIMAL' } : {}) });
}

export function collect(stream: NodeJS.ReadableStream): () => string {
  let text = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    if (text.length < MAX_OUTPUT) text += chunk;
  });
  return () => text;
}

/** Undefined until the first line is complete. */
function readAnswer(output: string): Seen | undefined {
  const end = output.indexOf('\n');
  if (end === -1) return output.length < MAX_OUTPUT ? undefined : { kind: 'noise', line: output.slice(0, 80) };
  const line = output.slice(0, end);
  try {
    const { result, error } = parseJson(line) as { result?: { serverInfo?: unknown }; error?: { message?: unknown } };
    const { name, version } = (result?.serverInfo ?? {}) as { name?: unknown; version?: unknown };
    if (typeof name === 'string' && typeof version === 'string') return { kind: 'server', name, version };
    if (typeof error?.message !== 'string')
      return { kind: 'failed', reason: 'its first line is no answer to the handshake' };
    return { kind: 'failed', reason: `it refused the handshake: ${error.message}` };
  } catch {
    return { kind: 'noise', line: line.slice(0, 80) };
  }
}

export function describeEnd(code: number | null, signal: NodeJS.Signals | null, errors: string): string {
  const lines = errors.split('\n').filter((line) => line.trim() !== '');
  const how = code === null ? `it was ended by ${signal}` : `it exited with ${code}`;
  const last = lines.at(-1);
  return last === undefined ? how : `${how}: ${last.slice(0, 300)}`;
}
