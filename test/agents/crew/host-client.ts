import { type ChildProcess, fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { type Agent, createAgent } from '../../support/agent.ts';
import { tempFolder } from '../../support/folders.ts';

/** How a client starts a server: by itself, or through a wrapper such as npx, which is a new parent at every start. */
export type Start = 'directly' | 'through a wrapper';

/** A server that the process of a client started. */
export interface HostedServer extends Agent {
  /** Set when the client begins to end it. */
  readonly isEnding: boolean;
  /** Ends it as a client does, by closing its input. */
  close(): Promise<void>;
  /** Kills it, with its wrapper. */
  kill(): Promise<void>;
}

interface FromHost {
  readonly id: number;
  readonly line?: string;
}

/** A process of a client: the parent of the servers that it starts, one after the other or several at once. */
export class ClientHost {
  readonly #process: ChildProcess;
  readonly #command: readonly string[];
  #started = 0;

  constructor(start: Start, cwd: string, env: Readonly<Record<string, string>>) {
    const program = join(tempFolder(), 'host.cjs');
    writeFileSync(program, HOST);
    this.#process = fork(program, { cwd, env: { ...SETTINGS, ...env }, execArgv: [] });
    this.#process.setMaxListeners(0);
    const server = [process.execPath, resolve('dist/colibri.cjs')];
    // The command after it keeps the shell from replacing itself.
    this.#command = start === 'directly' ? server : ['/bin/sh', '-c', '"$0" "$1"; exit $?', ...server];
  }

  async start(name: string): Promise<HostedServer> {
    this.#started += 1;
    const id = this.#started;
    const gone = this.#whenGone(id);
    this.#process.send({ id, start: this.#command });
    const client = new Client({ name, version: '1' });
    await client.connect(this.#connect(id));
    let isEnding = false;
    const end = async (how: 'close' | 'kill') => {
      isEnding = true;
      if (this.#process.connected) this.#process.send({ id, [how]: true });
      await gone;
    };
    return {
      ...createAgent(client),
      get isEnding() {
        return isEnding;
      },
      close: () => end('close'),
      kill: () => end('kill'),
    };
  }

  /** Ends the client and, with it, its servers. */
  end(): void {
    this.#process.kill('SIGKILL');
  }

  #whenGone(id: number): Promise<void> {
    return new Promise((done) => {
      this.#process.on('message', (message: FromHost) => {
        if (message.id === id && message.line === undefined) done();
      });
      this.#process.on('exit', () => done());
    });
  }

  #connect(id: number): Transport {
    const transport: Transport = {
      start: () => {
        this.#process.on('message', (message: FromHost) => {
          if (message.id !== id) return;
          if (message.line === undefined) transport.onclose?.();
          else transport.onmessage?.(JSON.parse(message.line) as JSONRPCMessage);
        });
        return Promise.resolve();
      },
      send: (message) => {
        this.#process.send({ id, line: JSON.stringify(message) });
        return Promise.resolve();
      },
      close: () => Promise.resolve(),
    };
    return transport;
  }
}

const SETTINGS = { COLIBRI_KEY_PATH: 'none', COLIBRI_LOG_LEVEL: 'error', COLIBRI_DURABILITY: 'relaxed' };

/** Servers are leaders of process groups, so that a kill reaches the one behind a wrapper. */
const HOST = `
  const { spawn } = require('node:child_process');
  const { createInterface } = require('node:readline');
  const servers = new Map();
  process.on('message', ({ id, start, line, close, kill }) => {
    if (start !== undefined) {
      const server = spawn(start[0], start.slice(1), { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
      servers.set(id, server);
      server.stdin.on('error', () => undefined);
      createInterface({ input: server.stdout }).on('line', (text) => process.send({ id, line: text }));
      server.on('close', () => process.send({ id }));
    }
    const server = servers.get(id);
    if (line !== undefined) server.stdin.write(line + '\\n');
    if (close) server.stdin.end();
    if (kill) process.kill(-server.pid, 'SIGKILL');
  });
  process.on('disconnect', () => process.exit());`;
