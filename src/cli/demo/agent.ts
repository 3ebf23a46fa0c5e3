import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createEnvironment } from '../../config.ts';
import { parseJson } from '../../integrity/index.ts';

/** The data of a tool, or the error that it returned. */
export interface Answer {
  readonly data: Readonly<Record<string, unknown>>;
  readonly error: { readonly code: string; readonly message: string; readonly [fact: string]: unknown } | undefined;
}

export interface Agent {
  readonly name: string;
  /** Performs the handshake; await it before the first call. */
  connect(): Promise<void>;
  call(tool: string, input: Readonly<Record<string, unknown>>): Promise<Answer>;
  /** Closes the input of the server, as clients do, and waits until it has exited. */
  end(): Promise<void>;
  kill(): void;
}

const PROTOCOL = '2025-11-25';

/** Starts an MCP client with its own server, which is this program. */
export function openAgent(name: string, ledger: string, folder: string): Agent {
  const server = spawn(process.execPath, [String(process.argv[1]), 'serve'], {
    cwd: folder,
    env: createEnvironment({
      COLIBRI_AGENT_ID: name,
      COLIBRI_DB_PATH: ledger,
      COLIBRI_LOG_LEVEL: 'error',
      // A ledger that is thrown away is not signed with the key of the user.
      COLIBRI_KEY_PATH: 'none',
    }),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const request = createRequest(name, server);
  return {
    name,
    connect: async () => {
      const clientInfo = { name: 'colibri-demo', version: '1' };
      await request('initialize', { protocolVersion: PROTOCOL, capabilities: {}, clientInfo });
      send(server, { method: 'notifications/initialized' });
    },
    call: async (tool, input) => readAnswer(await request('tools/call', { name: tool, arguments: input })),
    end: async () => {
      if (server.exitCode !== null) return;
      const exited = once(server, 'exit');
      server.stdin.end();
      await exited;
    },
    kill: () => {
      server.kill('SIGKILL');
    },
  };
}

interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

type Request = (method: string, params: object) => Promise<unknown>;

/** JSON-RPC, one object per line in both directions. */
function createRequest(name: string, server: ChildProcess & { readonly stdout: NodeJS.ReadableStream }): Request {
  const waiting = new Map<number, { resolve: (reply: Reply) => void; reject: (error: Error) => void }>();
  let requests = 0;
  createInterface({ input: server.stdout }).on('line', (line) => {
    const reply = parseJson(line) as Reply;
    waiting.get(reply.id)?.resolve(reply);
    waiting.delete(reply.id);
  });
  const onExit = (reason: unknown): void => {
    for (const { reject } of waiting.values()) reject(new Error(`the server of ${name} exited (${String(reason)})`));
    waiting.clear();
  };
  server.on('error', onExit).on('exit', onExit);
  server.stdin?.on('error', onExit);
  return async (method, params) => {
    requests += 1;
    const id = requests;
    const { result, error } = await new Promise<Reply>((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      send(server, { id, method, params });
    });
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  };
}

function send({ stdin }: ChildProcess, message: object): void {
  stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

/** Tools of some domains return an error inside the data, others beside it (patterns A and B of the envelope). */
function readAnswer(result: unknown): Answer {
  const { structuredContent } = result as { structuredContent: { data?: Answer['data']; error?: Answer['error'] } };
  const { data = {}, error } = structuredContent;
  return { data, error: error ?? (data['ok'] === false ? (data['error'] as Answer['error']) : undefined) };
}
