import { existsSync, readFileSync, readSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { WriteStream } from 'node:tty';
import { codeCachePath, wrap } from '../../../src/cli/load-program.ts';
import type { HostAnswer, HostRequest } from '../commands/host-client.ts';

/**
 * Runs commands of the built program one after the other, each like a separate process: with its arguments,
 * variables, folder and streams, and with the program reevaluated. A command has ended when the event loop is empty,
 * as a process has. If a command exits, this process does too, after it has answered.
 */
const [REQUESTS, ANSWERS] = [3, 4];
const ORPHAN_CHECK_MS = 500;
const [node = '', , entry = '', parent] = process.argv;
const program = join(dirname(entry), 'program.cjs');
const cachePath = codeCachePath(program);
const evaluate = wrap(program, existsSync(cachePath) ? readFileSync(cachePath) : undefined).runInThisContext() as (
  ...args: unknown[]
) => void;
const require = createRequire(program);
const text = { stdout: '', stderr: '' };
const [stdout, stderr] = [replaceStream('stdout'), replaceStream('stderr')];
/** Node's own rules decide about colors. */
const COLORS = {
  hasColors: () => WriteStream.prototype.hasColors.call(stdout as WriteStream, 16),
  getColorDepth: () => WriteStream.prototype.getColorDepth.call(stdout as WriteStream),
};
let isRunning = false;
let pending = Buffer.alloc(0);

process.on('beforeExit', () => {
  answer(Number(process.exitCode ?? 0), false);
  next();
});
process.on('exit', (code) => {
  if (isRunning) answer(code, true);
});
// A command such as `log --follow` would run forever if the tests that wait for it were killed.
setInterval(() => {
  if (String(process.ppid) !== parent) endWithTests();
}, ORPHAN_CHECK_MS).unref();
const own = [process, stdout, stderr].map((emitter) => ({ emitter, listeners: listListeners(emitter) }));
next();

function next(): void {
  const line = readLine();
  if (line === undefined) process.exit(0);
  const { args, env, cwd, stdin, terminal } = JSON.parse(line) as HostRequest;
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  process.argv = [node, entry, ...args];
  Object.defineProperty(process, 'stdin', { configurable: true, value: createStdin(stdin) });
  if (terminal !== undefined) Object.assign(stdout, { isTTY: true, ...terminal, ...COLORS });
  isRunning = true;
  // Something must be due, or the event loop would not run again.
  setImmediate(() => evaluateProgram(args));
}

function evaluateProgram(args: readonly string[]): void {
  const loaded = { exports: {} };
  evaluate(loaded.exports, require, loaded, program);
  void (loaded.exports as typeof import('../../../src/cli/main.ts')).run(args);
}

function answer(status: number, isLast: boolean): void {
  isRunning = false;
  send(Buffer.from(`${JSON.stringify({ status, ...text, isLast } satisfies HostAnswer)}\n`));
  Object.assign(text, { stdout: '', stderr: '' });
  process.exitCode = undefined;
  for (const name of ['isTTY', 'columns', 'rows', 'hasColors', 'getColorDepth']) Reflect.deleteProperty(stdout, name);
  for (const { emitter, listeners } of own)
    for (const [event, listener] of listListeners(emitter))
      if (!listeners.some(([, known]) => known === listener)) emitter.off(event, listener);
}

function send(line: Buffer): void {
  try {
    for (let written = 0; written < line.length; ) written += writeSync(ANSWERS, line, written);
  } catch {
    // Thrown, it would reach the handlers of the command, and the answer would be tried again.
    endWithTests();
  }
}

function endWithTests(): never {
  isRunning = false;
  process.exit(0);
}

/** Blocks, so that nothing of the last command runs on before the next one. Undefined when the tests have ended. */
function readLine(): string | undefined {
  for (;;) {
    const end = pending.indexOf('\n');
    if (end !== -1) {
      const line = pending.toString('utf8', 0, end);
      pending = pending.subarray(end + 1);
      return line;
    }
    const chunk = Buffer.alloc(65_536);
    const length = readSync(REQUESTS, chunk);
    if (length === 0) return undefined;
    pending = Buffer.concat([pending, chunk.subarray(0, length)]);
  }
}

/** Once and for all, because the console keeps the stream that it has found first. */
function replaceStream(name: 'stdout' | 'stderr'): Writable {
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, _encoding, done) => {
      text[name] += chunk.toString();
      done();
    },
  });
  Object.defineProperty(process, name, { value: stream });
  return stream;
}

function createStdin(base64: string): Readable {
  return Readable.from(base64 === '' ? [] : [Buffer.from(base64, 'base64')], { objectMode: false });
}

type Emitter = Pick<NodeJS.EventEmitter, 'eventNames' | 'listeners' | 'off'>;
type Listener = (...args: unknown[]) => void;

function listListeners(emitter: Emitter): (readonly [string | symbol, Listener])[] {
  return emitter
    .eventNames()
    .flatMap((event) => emitter.listeners(event).map((listener) => [event, listener as Listener] as const));
}
