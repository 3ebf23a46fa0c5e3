import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect } from 'vitest';
import { CAN_TRACE, type Fault, faultyLauncher, Injection, listFaults, readTrace } from '../support/disk/injection.ts';
import { tempFolder } from '../support/folders.ts';
import { ledgerIn, queryFile, verifyFile } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { sample } from '../support/properties.ts';
import { connectRaw, RawClient } from '../support/raw-client.ts';

/** A project whose ledger meets faults, and what its clients were told. */
class FaultyProject {
  readonly folder = tempFolder();
  readonly traces = tempFolder();
  readonly path = ledgerIn(this.folder);
  readonly files = [dirname(this.path), ...['', '-wal', '-shm', '-journal'].map((suffix) => this.path + suffix)];
  readonly stored: string[] = [];
  readonly refused: string[] = [];
  #titles = 0;

  connect(): Promise<RawClient> {
    return connectRaw({ cwd: this.folder });
  }

  inject({ program }: RawClient, fault?: Fault): Promise<Injection> {
    return Injection.attach(program.child.pid ?? 0, this.files, this.traces, fault);
  }

  async appendWith(client: RawClient, fault?: Fault) {
    const injection = await this.inject(client, fault);
    const outcome = await this.append(client);
    await injection.detach();
    return { outcome, ...readTrace(this.traces) };
  }

  /** Creates a task and notes what the answer says about it. */
  async append(client: RawClient): Promise<'stored' | 'refused' | 'unknown'> {
    this.#titles += 1;
    const title = `task ${this.#titles}`;
    const answer = await client.call('task_create', { title }).catch(() => undefined);
    if (answer === undefined) return 'unknown';
    const text = JSON.stringify(answer);
    const outcome = text.includes('"task_id"') ? 'stored' : text.includes('it may be lost') ? 'unknown' : 'refused';
    if (outcome === 'stored') this.stored.push(title);
    if (outcome === 'refused') this.refused.push(title);
    return outcome;
  }

  async expectTruth(): Promise<void> {
    if (!existsSync(this.path)) {
      expect(this.stored).toEqual([]);
      return;
    }
    await verifyFile(this.path);
    const titles = (await queryFile<{ title: string }>(this.path, 'SELECT title FROM tasks')).map(({ title }) => title);
    expect(titles).toEqual(expect.arrayContaining(this.stored));
    expect(titles.filter((title) => this.refused.includes(title))).toEqual([]);
    expect(new Set(titles).size).toBe(titles.length);
  }
}

const ERRORS = ['EIO', 'ENOSPC'] as const;

describe('a disk that fails', () => {
  if (!CAN_TRACE) console.warn('strace is missing or may not trace: no call of the file system is made to fail');
  for (const [detail, test] of CAN_TRACE ? TESTS : []) promiseTest('fault/disk', detail, test);
});

const TESTS: readonly (readonly [detail: string, test: () => Promise<void>])[] = [
  ['each call of the file system in one append fails in turn', failEachCallOfAppend],
  ['a server is killed at each call of the file system in one append', killAtEachCallOfAppend],
  ['each call of the file system fails in turn while a server stops', () => failEachCallOf(stop)],
  ['each call of the file system fails in turn while a server creates its ledger', () => failEachCallOf(create)],
];

/** All in one server, which has to go on. */
async function failEachCallOfAppend(): Promise<void> {
  const project = new FaultyProject();
  const client = await project.connect();
  await project.append(client);
  const faults = listFaults((await project.appendWith(client)).counts, ERRORS);
  expect(faults.length).toBeGreaterThan(30);
  for (const fault of sample(faults, 10)) {
    const { outcome, injected } = await project.appendWith(client, fault);
    expect([fault, injected, outcome]).not.toEqual([fault, 1, 'stored']);
    expect([fault, await project.append(client)]).toEqual([fault, 'stored']);
  }
  expect(await client.end()).toEqual({ code: 0, signal: null });
  await project.expectTruth();
}

async function killAtEachCallOfAppend(): Promise<void> {
  const project = new FaultyProject();
  const client = await project.connect();
  await project.append(client);
  const faults = listFaults((await project.appendWith(client)).counts, ['SIGKILL']);
  await client.end();
  for (const fault of sample(faults, 1)) {
    const doomed = await project.connect();
    await project.append(doomed);
    await project.appendWith(doomed, fault);
    doomed.program.child.kill('SIGKILL');
    await doomed.program.exit;
    const next = await project.connect();
    expect([fault, await project.append(next)]).toEqual([fault, 'stored']);
    await next.end();
    await project.expectTruth();
  }
}

/** Runs a server with each fault of its work, and another one without a fault afterwards. */
async function failEachCallOf(work: (project: FaultyProject, fault?: Fault) => Promise<void>): Promise<void> {
  const measured = new FaultyProject();
  await work(measured);
  const faults = listFaults(readTrace(measured.traces).counts, [...ERRORS, 'SIGKILL']);
  expect(faults.length).toBeGreaterThan(30);
  for (const fault of sample(faults, 1)) {
    const project = new FaultyProject();
    await work(project, fault);
    const next = await project.connect();
    expect([fault, await project.append(next)]).toEqual([fault, 'stored']);
    expect(await next.end()).toEqual({ code: 0, signal: null });
    await project.expectTruth();
  }
}

async function stop(project: FaultyProject, fault?: Fault): Promise<void> {
  const client = await project.connect();
  await project.append(client);
  const injection = await project.inject(client, fault);
  await client.end();
  await injection.detach();
}

async function create(project: FaultyProject, fault?: Fault): Promise<void> {
  const client = new RawClient({
    cwd: project.folder,
    launcher: faultyLauncher(project.files, project.traces, fault),
  });
  // A server that was killed does not answer.
  await client.initialize().catch(() => undefined);
  await project.append(client);
  await client.end();
}
