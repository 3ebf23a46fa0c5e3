import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { toEvent } from '../../src/recorder/clients/recognize.ts';
import { type IngestOptions, ingest } from '../../src/recorder/ingest.ts';
import { listCoverage, listUsage } from '../../src/recorder/reports/list-reports.ts';
import { sumUsage } from '../../src/recorder/reports/usage.ts';
import { writeToSpool } from '../../src/recorder/spool.ts';
import { encodeSpooled, toSpooled } from '../../src/recorder/spooled-event.ts';
import { assertWhole, openServer, type TestServer, withFolder } from '../support/test-server.ts';

/** What real clients wrote in one session each, with paths replaced and long texts cut. */
const FIXTURES = join(import.meta.dirname, 'transcripts');

export function fixture(name: string): string {
  return readFileSync(join(FIXTURES, name), 'utf8');
}

export function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

type Payload = Readonly<Record<string, unknown>>;

/** A home folder with the transcripts of a client, and a ledger beside a spool that its hooks write to. */
export class RecordedSession {
  readonly server: TestServer;
  readonly home: string;
  readonly spool: string;
  #count = 0;

  constructor(server: TestServer, folder: string) {
    this.server = server;
    this.home = join(folder, 'person');
    this.spool = join(folder, '.colibri', 'spool');
    for (const path of [this.home, dirname(this.spool)]) mkdirSync(path, { mode: 0o700 });
    writeFileSync(join(dirname(this.spool), '.gitignore'), '*\n');
  }

  /** The payloads of the hooks of a fixture, with paths of this home folder. */
  hooks(name: string): Payload[] {
    return linesOf(fixture(`${name}.hooks.jsonl`)).map((line) => JSON.parse(this.#moved(line)) as Payload);
  }

  /** Returns the path; `/me` stands for the home folder. */
  write(path: string, text: string): string {
    const place = this.#moved(path);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, text);
    return place;
  }

  report(...payloads: readonly object[]): void {
    for (const payload of payloads) {
      const at = new Date(Date.UTC(2026, 10, 16) + this.#count);
      this.#count += 1;
      const options = { at, salt: this.#count.toString(16).padStart(32, '0'), level: 'excerpts' } as const;
      writeToSpool(this.spool, encodeSpooled(toSpooled(toEvent(payload), options)), { at, isDurable: false });
    }
  }

  ingest(options: Pick<IngestOptions, 'isHurried'> = {}): Promise<unknown> {
    return ingest(this.server.database, this.spool, { ...options, home: this.home });
  }

  /** The latest coverage of each session and sub-agent, the oldest first. */
  async coverage(): Promise<object[]> {
    const reports = await this.server.database.read(listCoverage);
    return reports.reverse().map(({ agent, seen, recorded, missing, defect }) => ({
      ...(agent !== null && { agent }),
      seen,
      recorded,
      ...(missing.length > 0 && { missing }),
      ...(defect !== null && { defect }),
    }));
  }

  /** Sums of task, model, responses, input, output, cache read, cache write and cache write for an hour. */
  async usage(): Promise<unknown[][]> {
    const sums = sumUsage(await this.server.database.read(listUsage));
    return sums.map((sum) => [
      sum.taskId,
      sum.model,
      sum.responses,
      sum.input_tokens,
      sum.output_tokens,
      sum.cache_read_tokens,
      sum.cache_write_tokens,
      sum.cache_write_1h_tokens,
    ]);
  }

  #moved(text: string): string {
    return text.replaceAll('/me/', `${this.home}/`);
  }
}

/** Verifies the whole ledger at the end. */
export function withSession(work: (session: RecordedSession) => Promise<void>): Promise<void> {
  return withFolder(async (folder) => {
    const server = await openServer(join(folder, 'colibri.db'));
    try {
      await work(new RecordedSession(server, folder));
      await assertWhole(server.database);
    } finally {
      await server.close();
    }
  });
}
