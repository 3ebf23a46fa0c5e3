import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { CliProject, finished } from '../support/cli-project.ts';
import { call } from '../support/memory-server.ts';

/** A project of a user with a configuration folder of its own, who signs. */
export class SigningProject extends CliProject {
  readonly config = this.mkdir('config');
  readonly key = join(this.config, 'colibri', 'signing-key.pem');

  get env(): Record<string, string> {
    return { XDG_CONFIG_HOME: this.config, COLIBRI_KEY_PATH: '' };
  }

  colibri(...args: readonly string[]) {
    return this.runWith({ env: this.env }, ...args);
  }

  /** In a process of its own. */
  spawnRotation() {
    return finished(this.spawn(['key', 'rotate'], { env: this.env }));
  }

  async checkpoint(): Promise<string> {
    const { stdout } = await this.colibri('checkpoint');
    return stdout;
  }

  async withAgent<Result>(work: (agent: Client) => Promise<Result>): Promise<Result> {
    const agent = await this.openAgent('alice', this.env);
    try {
      return await work(agent);
    } finally {
      await agent.close();
    }
  }

  /** The checkpoints outside the ledger's folder. */
  remembered(): string[] {
    const folder = join(this.config, 'colibri', 'checkpoints');
    if (!existsSync(folder)) return [];
    return readdirSync(folder).flatMap((id) =>
      readdirSync(join(folder, id)).map((name) => readFileSync(join(folder, id, name), 'utf8')),
    );
  }

  /** As if the log had been signed at another size, too: the root and the signature are those of the text. */
  remember(text: string, size: number): void {
    const folder = join(this.config, 'colibri', 'checkpoints');
    const [id = ''] = readdirSync(folder);
    const [origin = '', , ...rest] = text.split('\n');
    const file = join(folder, id, String(size).padStart(16, '0'));
    writeFileSync(file, [origin, size, ...rest].join('\n'), { mode: 0o600 });
  }

  /** Puts an earlier state of the ledger in its place, as a user who copies a backup by hand. */
  rollBackTo(saved: string): void {
    rmSync(join(this.folder, '.colibri'), { recursive: true });
    cpSync(saved, join(this.folder, '.colibri'), { recursive: true });
  }

  save(): string {
    const saved = this.path('saved');
    rmSync(saved, { recursive: true, force: true });
    cpSync(join(this.folder, '.colibri'), saved, { recursive: true });
    return saved;
  }
}

export const receiptOf = (meta: unknown) =>
  (meta as Record<string, unknown>)['colibri/receipt'] as { index: number; leaf: string; checkpoint?: string };

/** One thought about the first task, and its sealed session. Returns the answer to the seal. */
export async function seal(agent: Client, session = 'A-0001'): Promise<unknown> {
  await call(agent, 'audit_session_start', { task_id: 'T-0001', auditor_id: 'auditor' });
  await call(agent, 'thought_record', { task_id: 'T-0001', type: 'decision', content: 'because' });
  const { isError, text, data } = await call(agent, 'merkle_finalize', { session_id: session });
  if (isError) throw new Error(text);
  return data;
}

export function write(project: CliProject, text: string): string {
  const file = project.path('checkpoint');
  writeFileSync(file, text);
  return file;
}
