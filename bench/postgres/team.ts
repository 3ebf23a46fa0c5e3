import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const dist = fileURLToPath(new URL('..', import.meta.url));

/** A process that makes calls back to back. */
export interface Worker {
  work(): Promise<void>;
  end(): void;
}

/** A process that is not warm spends most of a call on code that is not compiled yet. */
const WARM_UP_CALLS = 1500;

export async function startBare(url: string, transactions: number): Promise<Worker> {
  const child = start(`${dist}bench/postgres-bare.js`, [url, String(WARM_UP_CALLS), String(transactions)], {});
  const lines = readLines(child);
  await lines.next();
  return {
    work: async () => {
      child.stdin?.write('go\n');
      await lines.next();
    },
    end: () => child.kill(),
  };
}

/** Writes the protocol by hand: a client library would use more CPU than the servers. */
export async function startServer(env: Record<string, string>, calls: number): Promise<Worker> {
  const child = start(`${dist}colibri.cjs`, [], { COLIBRI_LOG_LEVEL: 'warn', ...env });
  const lines = readLines(child);
  const ask = async (id: number, method: string, params: object) => {
    child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    assertDone(await lines.next());
  };
  const clientInfo = { name: 'bench', version: '0' };
  await ask(0, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  child.stdin?.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  const params = { name: 'task_create', arguments: { title: 'Measure what one call costs', project: 'bench' } };
  const request = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })}\n`;
  // Calls are sent in batches: sending them one by one would take CPU time from the servers.
  const call = async (count: number) => {
    for (let left = count; left > 0; left -= HEAP) {
      const heap = Math.min(left, HEAP);
      child.stdin?.write(request.repeat(heap));
      for (let answer = 0; answer < heap; answer += 1) assertDone(await lines.next());
    }
  };
  await call(WARM_UP_CALLS);
  return {
    work: () => call(calls),
    end: () => child.kill(),
  };
}

const HEAP = 50;

function assertDone(answer: string): void {
  if (answer.includes('"isError":true') || answer.includes('"error":')) throw new Error(answer);
}

/** Calls per second of several workers together. */
export async function throughput(start: () => Promise<Worker>, workers: number, calls: number): Promise<number> {
  const team = await Promise.all(Array.from({ length: workers }, start));
  const begin = performance.now();
  await Promise.all(team.map((worker) => worker.work()));
  const seconds = (performance.now() - begin) / 1000;
  for (const worker of team) worker.end();
  return (workers * calls) / seconds;
}

function start(program: string, args: readonly string[], env: Record<string, string>): ChildProcess {
  const { PATH = '', HOME = '' } = process.env;
  return spawn(process.execPath, [program, ...args], {
    env: { PATH, HOME, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

function readLines(child: ChildProcess): { next: () => Promise<string> } {
  const lines: string[] = [];
  let rest = '';
  let wake: () => void = () => undefined;
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
    wake();
  });
  return {
    next: async () => {
      while (lines.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return lines.shift() ?? '';
    },
  };
}
