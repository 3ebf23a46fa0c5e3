import { type ChildProcess, spawn } from 'node:child_process';
import type { Receipt } from './journal.ts';

export interface LaunchOptions {
  readonly program: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Reply {
  readonly outcome: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly receipt: Receipt | undefined;
}

interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly result?: {
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
  readonly #waiting = new Map<number, (message: Message | undefined) => void>();
  #nextId = 0;
  #hasEnded = false;
  #errors = '';

  constructor({ program, cwd, env }: LaunchOptions) {
    this.child = spawn(process.execPath, [program], { cwd, env, stdio: 'pipe' });
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
    const answer = await this.#request('initialize', params);
    this.#write({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return answer !== undefined;
  }

  /** Undefined if the process ended before it answered. */
  async call(name: string, input: object): Promise<Reply | undefined> {
    const message = await this.#request('tools/call', { name, arguments: input });
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

  #request(method: string, params: object): Promise<Message | undefined> {
    if (this.#hasEnded) return Promise.resolve(undefined);
    const id = this.#nextId;
    this.#nextId += 1;
    const answer = new Promise<Message | undefined>((resolve) => this.#waiting.set(id, resolve));
    this.#write({ jsonrpc: '2.0', id, method, params });
    return answer;
  }

  #write(message: object): void {
    this.child.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  #receive(line: string): void {
    const message = parse(line);
    const settle = typeof message?.id === 'number' ? this.#waiting.get(message.id) : undefined;
    if (message?.jsonrpc !== '2.0' || settle === undefined) this.strayLines.push(line.slice(0, 200));
    else {
      this.#waiting.delete(message.id as number);
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

function toReply({ result, error }: Message): Reply {
  const receipt = result?._meta?.['colibri/receipt'];
  const content = result?.structuredContent;
  if (content === undefined) return { outcome: `protocol error ${error?.code}`, data: {}, receipt };
  const inner = content.data as { readonly ok?: boolean; readonly error?: Failure } | undefined;
  const failure = content.error ?? (inner?.ok === false ? inner.error : undefined);
  if (failure?.code === 'HANDLER_ERROR') return { outcome: failure.details?.code ?? failure.code, data: {}, receipt };
  if (failure !== undefined) return { outcome: failure.code, data: {}, receipt };
  return { outcome: 'ok', data: content.data as Record<string, unknown>, receipt };
}
