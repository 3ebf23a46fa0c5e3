import { spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, read, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface HostRequest {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** In base64. */
  readonly stdin: string;
  readonly terminal?: { readonly columns: number; readonly rows: number } | undefined;
}

interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface HostAnswer extends Ran {
  /** Whether the command has exited, and the host with it. */
  readonly isLast: boolean;
}

/**
 * A process of test/support/programs/command-host.ts, which runs commands of the program one after the other. It ends
 * with the process that started it, or with a command that exits.
 */
export class CommandHost {
  readonly #requests: number;
  readonly #answers: number;
  #isBusy = false;
  #hasEnded = false;

  constructor(hostProgram: string, program: string) {
    const folder = mkdtempSync(join(tmpdir(), 'colibri-host-'));
    const [requests, answers] = [createPipe(join(folder, 'requests')), createPipe(join(folder, 'answers'))];
    rmSync(folder, { recursive: true });
    const child = spawn(process.execPath, [hostProgram, program, String(process.pid)], {
      stdio: ['ignore', 'ignore', 'inherit', requests.reading, answers.writing],
    });
    child.unref();
    child.on('exit', () => (this.#hasEnded = true));
    // The host has these ends alone, so that both sides notice when the other one ends.
    closeSync(requests.reading);
    closeSync(answers.writing);
    this.#requests = requests.writing;
    this.#answers = answers.reading;
  }

  get isBusy(): boolean {
    return this.#isBusy;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Blocks this thread until the command has ended. */
  runSync(request: HostRequest): Ran {
    this.#send(request);
    const chunks: Buffer[] = [];
    for (;;) {
      const chunk = Buffer.alloc(CHUNK);
      const length = readSync(this.#answers, chunk);
      const answer = this.#take(chunks, chunk.subarray(0, length));
      if (answer !== undefined) return answer;
    }
  }

  async run(request: HostRequest): Promise<Ran> {
    this.#send(request);
    const chunks: Buffer[] = [];
    for (;;) {
      const { bytesRead, buffer } = await promisify(read)(this.#answers, Buffer.alloc(CHUNK), 0, CHUNK, null);
      const answer = this.#take(chunks, buffer.subarray(0, bytesRead));
      if (answer !== undefined) return answer;
    }
  }

  #send(request: HostRequest): void {
    this.#isBusy = true;
    const line = Buffer.from(`${JSON.stringify(request)}\n`);
    for (let written = 0; written < line.length; ) written += writeSync(this.#requests, line, written);
  }

  #take(chunks: Buffer[], chunk: Buffer): Ran | undefined {
    if (chunk.length === 0) throw new Error('the process that runs the commands of the tests has ended');
    chunks.push(chunk);
    if (chunk.at(-1) !== LINE_FEED) return undefined;
    const { isLast, ...ran } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as HostAnswer;
    this.#isBusy = false;
    this.#hasEnded ||= isLast;
    return ran;
  }
}

const CHUNK = 65_536;
const LINE_FEED = 10;

/** Named, because Node has no function for one whose reads block. */
function createPipe(path: string): { reading: number; writing: number } {
  const { status, stderr } = spawnSync('mkfifo', [path], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`cannot create a pipe: ${stderr}`);
  // Opening one end waits for the other, unless it is opened for both first.
  const both = openSync(path, 'r+');
  const ends = { reading: openSync(path, 'r'), writing: openSync(path, 'w') };
  closeSync(both);
  return ends;
}
