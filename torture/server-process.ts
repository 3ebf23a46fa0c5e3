import { type ChildProcess, spawn } from 'node:child_process';

export interface LaunchOptions {
  readonly program: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** A command that starts Node with the arguments that follow it. */
  readonly launcher?: readonly string[];
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The answer of a tool: `ok`, or the code of its failure as the exit entry says it. */
export interface Reply {
  readonly outcome: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly receipt: { readonly index: number; readonly leaf: string } | undefined;
}

export interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly result?: {
    readonly tools?: readonly unknown[];
    readonly structuredContent?: { readonly ok: boolean; readonly data?: unknown; readonly error?: Failure };
    readonly _meta?: { readonly 'colibri/receipt'?: { readonly index: number; readonly leaf: string } };
  };
  readonly error?: { readonly code: number; readonly message: string };
}

interface Failure {
  readonly code: string;
  readonly details?: { readonly code?: string };
}

/** A server process and the client of it that speaks the protocol by hand, so that it can also fall silent. */
export class ServerProcess {
  readonly child: ChildProcess;
  readonly exit: Promise<Exit>;
  /** Lines on standard output that are not messages of the protocol. */
  readonly strayLines: string[] = [];
  /** Messages that answer no request of `request` and `call`. */
  unexpected = 0;
  readonly #waiting = new Map<string, (message: Message | undefined) => void>();
  #nextId = 0;
  #hasEnded = false;
  #errors = '';

  constructor({ program, cwd, env, launcher = [] }: LaunchOptions) {
    const [command, ...args] = [...launcher, process.execPath, program];
    this.child = spawn(command, args, { cwd, env, stdio: 'pipe' });
    this.child.stdin?.on('error', () => undefined);
    this.child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#errors = (this.#errors + chunk).slice(-4000);
    });
    let rest = '';
    this.child.stdout?.on('error', () => undefined);
    this.child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#receive(line);
    });
    this.exit = new Promise((resolve) => this.child.once('close', (code, signal) => resolve({ code, signal })));
    void this.exit.then(() => {
      this.#hasEnded = true;
      for (const settle of this.#waiting.values()) settle(undefined);
    });
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The end of standard error, for a report. */
  get errors(): string {
    return this.#errors;
  }

  /** Resolves to false if the process ended instead. */
  async initialize(name: string): Promise<boolean> {
    const clientInfo = { name, version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    const answer = await this.request('initialize', params);
    this.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }));
    return answer !== undefined;
  }

  /** Undefined if the process ended before it answered. */
  async call(name: string, input: object): Promise<Reply | undefined> {
    const message = await this.request('tools/call', { name, arguments: input });
    return message === undefined ? undefined : toReply(message);
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  closeInput(): void {
    this.child.stdin?.end();
  }

  closeOutput(): void {
    this.child.stdout?.destroy();
  }

  pauseOutput(): void {
    this.child.stdout?.pause();
  }

  resumeOutput(): void {
    this.child.stdout?.resume();
  }

  /** Undefined if the process ended before it answered. */
  request(method: string, params: object = {}): Promise<Message | undefined> {
    const id = `own-${this.#nextId}`;
    this.#nextId += 1;
    const answer = this.expect(id);
    this.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return answer;
  }

  /** The answer to a request that the caller sends itself. */
  expect(id: string): Promise<Message | undefined> {
    if (this.#hasEnded) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  /** Sends a line that may be anything. */
  send(line: string | Uint8Array): void {
    this.child.stdin?.write(line);
    this.child.stdin?.write('\n');
  }

  /** Backpressure: resolves when the server has read most of what was sent, or has ended. */
  async drained(): Promise<void> {
    if (!this.child.stdin?.writableNeedDrain) return;
    await Promise.race([this.exit, new Promise((resolve) => this.child.stdin?.once('drain', resolve))]);
  }

  #receive(line: string): void {
    const message = parse(line);
    if (message?.jsonrpc !== '2.0') {
      this.strayLines.push(line.slice(0, 200));
      return;
    }
    const settle = typeof message.id === 'string' ? this.#waiting.get(message.id) : undefined;
    if (settle === undefined) this.unexpected += 1;
    else {
      this.#waiting.delete(message.id as string);
      settle(message);
    }
  }
}

function parse(line: string): Message | undefined {
  try {
    return JSON.parse(line) as Message;
  } catch {
    return undefined;
  }
}

/** What a tool answered. */
export function toReply({ result, error }: Message): Reply {
  const receipt = result?._meta?.['colibri/receipt'];
  const content = result?.structuredContent;
  if (content === undefined) return { outcome: `protocol error ${error?.code}`, data: {}, receipt };
  const inner = content.data as { readonly ok?: boolean; readonly error?: Failure } | undefined;
  const failure = content.error ?? (inner?.ok === false ? inner.error : undefined);
  if (failure?.code === 'HANDLER_ERROR') return { outcome: failure.details?.code ?? failure.code, data: {}, receipt };
  if (failure !== undefined) return { outcome: failure.code, data: {}, receipt };
  return { outcome: 'ok', data: content.data as Record<string, unknown>, receipt };
}
