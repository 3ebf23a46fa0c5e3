import { tempFolder } from '../folders.ts';
import { fixturePath, type ProgramOptions, type RunningProgram, startProgram } from '../program.ts';

type Json = Record<string, unknown>;

export interface RawAnswer {
  readonly id?: number | string;
  readonly result?: Json;
  readonly error?: { readonly code: number; readonly message: string };
}

/** Speaks the protocol by hand, so that it can also speak it badly. */
export class RawClient {
  readonly program: RunningProgram;
  #nextId = 1;

  constructor(options: ProgramOptions) {
    this.program = startProgram(options);
  }

  sendText(text: string): void {
    this.program.child.stdin?.write(text);
  }

  send(message: Json): void {
    this.sendText(`${JSON.stringify(message)}\n`);
  }

  async request(method: string, params: Json = {}): Promise<RawAnswer> {
    const id = this.#nextId;
    this.#nextId += 1;
    this.send({ jsonrpc: '2.0', id, method, params });
    return this.answerTo(id);
  }

  async initialize(name = 'raw'): Promise<RawAnswer> {
    const clientInfo = { name, version: '1' };
    const answer = await this.request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    this.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return answer;
  }

  async call(tool: string, args: Json = {}): Promise<Json> {
    const { result, error } = await this.request('tools/call', { name: tool, arguments: args });
    if (result === undefined) throw new Error(error?.message ?? 'neither result nor error');
    return result['structuredContent'] as Json;
  }

  /** The data of a success; a failure is an error of the test. */
  async data(tool: string): Promise<Json> {
    const answer = await this.call(tool);
    if (answer['ok'] !== true) throw new Error(JSON.stringify(answer));
    return answer['data'] as Json;
  }

  answerTo(id: number | string): Promise<RawAnswer> {
    return this.next((answer) => answer.id === id);
  }

  /** The first message that matches, whether it has come already or is still to come; or one after so many others. */
  next(matches: (message: RawAnswer) => boolean, after = 0): Promise<RawAnswer> {
    return this.program.whenFound(
      'stdout',
      (lines) => lines.map(parse).filter((message) => message !== undefined && matches(message))[after],
    );
  }

  /** The first line of the log about this event. */
  logLine(event: string): Promise<Json> {
    return this.program.whenFound('stderr', (lines) =>
      lines.map((line) => parse(line) as Json | undefined).find((line) => line?.['event'] === event),
    );
  }

  /** Ends the input and waits for the program to leave by itself. */
  end(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    this.program.child.stdin?.end();
    return this.program.exit;
  }
}

/** The last line may still be on its way. */
function parse(line: string): RawAnswer | undefined {
  try {
    return JSON.parse(line) as RawAnswer;
  } catch {
    return undefined;
  }
}

/** A client that has shaken hands. */
export async function connectRaw(options: ProgramOptions): Promise<RawClient> {
  const client = new RawClient(options);
  await client.initialize();
  return client;
}

/** Another process on the same database, driven step by step. */
export class PortProcess {
  readonly program: RunningProgram;
  #read = 0;

  constructor(path: string) {
    this.program = startProgram({ cwd: tempFolder(), program: fixturePath('port'), args: [path] });
  }

  send(command: string): void {
    this.program.child.stdin?.write(`${command}\n`);
  }

  /** Lines come in order, so each is waited for after the one before it. */
  async expectLine(expected: string): Promise<void> {
    const line = await this.program.whenFound('stdout', (lines) => lines[this.#read]);
    if (!line.startsWith(expected)) throw new Error(`expected ${expected}, got ${line}`);
    this.#read += 1;
  }

  async run(command: string): Promise<void> {
    this.send(command);
    await this.expectLine(`done ${command.split(' ')[0]}`);
  }

  async kill(): Promise<void> {
    this.program.child.kill('SIGKILL');
    await this.program.exit;
  }
}

export async function startPortProcess(path: string): Promise<PortProcess> {
  const started = new PortProcess(path);
  await started.expectLine('ready');
  return started;
}
