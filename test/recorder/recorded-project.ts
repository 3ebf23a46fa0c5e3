import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { listSpool, readSpoolFile } from '../../src/recorder/spool.ts';
import { parseSpooled, type SpooledEvent } from '../../src/recorder/spooled-event.ts';
import { CliProject, inherited } from '../support/cli-project.ts';
import { PROGRAM, type Ran } from '../support/program.ts';

interface HookOptions {
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly launcher?: readonly string[];
  /** Leaves standard input open. */
  readonly isOpen?: boolean;
}

/** A project whose ledger folder exists, and which hooks therefore record. */
export class RecordedProject extends CliProject {
  readonly spool = join(this.folder, '.colibri', 'spool');

  constructor() {
    super();
    mkdirSync(join(this.folder, '.colibri'), { mode: 0o700 });
    // As every server leaves it: elsewhere, the spool gets a .gitignore of its own.
    writeFileSync(join(this.folder, '.colibri', '.gitignore'), '*\n');
  }

  hook(input: string | Buffer, options: HookOptions = {}): Promise<Ran> {
    const { args = [], env = {}, cwd = this.folder, launcher = [], isOpen = false } = options;
    const [command = '', ...rest] = [...launcher, process.execPath, PROGRAM, 'hook', ...args];
    const child = spawn(command, rest, { cwd, env: { ...inherited(), ...env } });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.stdin.on('error', () => undefined);
    if (isOpen) child.stdin.write(input);
    else child.stdin.end(input);
    return new Promise((resolve) => child.on('close', (status) => resolve({ status, stdout, stderr })));
  }

  /** Expects what every hook keeps, and returns the events in the spool. */
  events(spool = this.spool): SpooledEvent[] {
    return listSpool(spool).map((name) => {
      const event = parseSpooled(readSpoolFile(spool, name) ?? '');
      if (event === undefined) throw new Error(`${name} is not an event`);
      return event;
    });
  }
}

export const SILENT = { status: 0, stdout: '', stderr: '' };
export const refused = (says: RegExp) => ({ status: 0, stdout: '', stderr: expect.stringMatching(says) as string });

export const post = (changes: object = {}) =>
  JSON.stringify({
    session_id: 'session-1',
    hook_event_name: 'PostToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'npm test' },
    tool_response: { stdout: 'fine', stderr: '', interrupted: false },
    tool_use_id: 'call-1',
    ...changes,
  });
