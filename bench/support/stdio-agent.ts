import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** How to start a server program and where it keeps its data. */
export interface Program {
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
}

export type Call = readonly [tool: string, args: Readonly<Record<string, unknown>>];

/** One agent with its own server process. Writes the protocol by hand: an SDK client costs more than a server. */
export class StdioAgent {
  readonly #child: ChildProcess;
  readonly #waiting: { readonly resolve: (line: string) => void; readonly reject: (error: Error) => void }[] = [];
  #nextId = 0;

  private constructor({ file, env }: Program) {
    const { PATH = '', HOME = '' } = process.env;
    this.#child = spawn(process.execPath, [file], {
      env: { PATH, HOME, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let rest = '';
    this.#child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#waiting.shift()?.resolve(line);
    });
    this.#child.once('exit', (code, signal) => {
      for (const { reject } of this.#waiting) reject(new Error(`the server ended with ${signal ?? code}`));
    });
  }

  static async start(program: Program, name: string): Promise<StdioAgent> {
    const agent = new StdioAgent(program);
    const clientInfo = { name, version: '0' };
    await agent.#request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    agent.#child.stdin?.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    return agent;
  }

  /** The structured answer, or the parsed text of servers that send no structured content. */
  async call([name, args]: Call): Promise<Record<string, unknown>> {
    const line = await this.#request('tools/call', { name, arguments: args });
    if (line.includes('"isError":true') || line.includes('"error":{')) throw new Error(`${name}: ${line}`);
    const { result } = JSON.parse(line) as {
      result: { structuredContent?: { data: Record<string, unknown> }; content: { text: string }[] };
    };
    return result.structuredContent?.data ?? (JSON.parse(result.content[0]?.text ?? '{}') as Record<string, unknown>);
  }

  /** CPU time used so far, user and system. Linux only. */
  cpuMs(): number {
    const fields = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
  }

  async end(): Promise<void> {
    const closed = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.stdin?.end();
    await closed;
  }

  #request(method: string, params: object): Promise<string> {
    const answer = new Promise<string>((resolve, reject) => this.#waiting.push({ resolve, reject }));
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id: this.#nextId++, method, params })}\n`);
    return answer;
  }
}

const MS_PER_TICK = 10;
