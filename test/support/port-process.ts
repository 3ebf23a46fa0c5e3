import { fixturePath, type RunningProgram, startProgram } from './program.ts';
import { tempFolder } from './temp-folder.ts';

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
