import type { Reader } from '../../db/database.ts';
import type { LastLinkCache } from '../last-link-cache.ts';
import type { OpenCall, PageProof } from '../page-proof.ts';
import { RedactionCheck } from '../redactions/check.ts';
import type { Redactions } from '../redactions/finder.ts';
import { Replay } from '../replay/replay.ts';
import type { RedactedEntry, Report } from '../report.ts';
import { checkSearchInPostgres } from '../search/postgres.ts';
import { checkSearchInSqlite } from '../search/sqlite.ts';
import type { StoredPage } from '../stored-page.ts';
import { CallCheck } from './calls.ts';
import { GenesisCheck } from './genesis.ts';
import { KeyCheck } from './keys.ts';
import { NodeCheck } from './nodes.ts';
import { ObservationCheck } from './observations.ts';
import { checkSignOffs, ProjectCheck } from './projects.ts';
import { reportMisstoredInSqlite } from './sqlite/storage.ts';
import { checkEntryCount, type LoggedEntry } from './stored-entries.ts';
import { TaskCheck } from './tasks.ts';
import { TrailCheck } from './thoughts.ts';

/** These checks read every value of the tables with its type. */
const READ_WITH_TYPES: ReadonlySet<string> = new Set(['ledger_entries', 'thoughts']);

/** Compares every table that is derived from the log with the log, page by page in log order, and reports. */
export class ReferenceCheck {
  readonly nodes: NodeCheck;
  readonly #reader: Reader;
  readonly #report: Report;
  readonly #calls: CallCheck;
  readonly #tasks: TaskCheck;
  readonly #trail: TrailCheck;
  readonly #projects: ProjectCheck;
  readonly #genesis: GenesisCheck;
  readonly #keys: KeyCheck;
  readonly #observations: ObservationCheck;
  readonly #redactions: RedactionCheck;
  readonly #replay: Replay;

  constructor(reader: Reader, links: LastLinkCache, report: Report) {
    this.#reader = reader;
    this.#report = report;
    this.nodes = new NodeCheck(reader, report);
    this.#replay = new Replay(report);
    this.#calls = new CallCheck(reader, report);
    this.#tasks = new TaskCheck(reader, report, (index, content) => this.#replay.hold(index, content));
    this.#trail = new TrailCheck(reader, links, report);
    this.#projects = new ProjectCheck(reader, report, (index, options) => this.#replay.holdOptions(index, options));
    this.#genesis = new GenesisCheck(reader, report);
    this.#keys = new KeyCheck(reader, report);
    this.#observations = new ObservationCheck(reader, report);
    this.#redactions = new RedactionCheck(reader, report);
  }

  get openCalls(): ReadonlyMap<number, OpenCall> {
    return this.#calls.open;
  }

  get redacted(): readonly RedactedEntry[] {
    return this.#redactions.redacted;
  }

  /** `entries` are the readable entries of the page that are not proven, `redactions` those of its entries. */
  async page(
    { begin, texts }: StoredPage,
    entries: readonly LoggedEntry[],
    proof: PageProof,
    redactions: Redactions,
  ): Promise<void> {
    const range = { begin, end: begin + texts.length, redactions };
    if (proof.calls === undefined) await this.#calls.page(entries, range);
    else this.#calls.accept(proof.calls);
    await this.#tasks.page(entries, range);
    await this.#trail.page(entries, range);
    this.#trail.accept(proof.thoughts ?? []);
    await this.#projects.page(entries);
    this.#genesis.page(entries);
    await this.#keys.page(entries);
    await this.#observations.page(entries, range);
    await this.#redactions.page(entries, redactions);
    this.#replay.page(entries, proof.thoughts ?? []);
    await checkSignOffs(this.#reader, this.#replay.takeFinished(), this.#report);
  }

  /** Checks what only the whole ledger shows. Call it after the last page. */
  async finish(size: number): Promise<void> {
    await checkEntryCount(this.#reader, size, this.#report);
    await this.nodes.finish(size);
    await this.#calls.finish(size, this.#replay.listHolders());
    await this.#tasks.finish(size);
    await this.#trail.finish();
    await this.#projects.finish();
    await this.#genesis.finish(size);
    await this.#keys.finish();
    await this.#observations.finish();
    await this.#redactions.finish();
    if (this.#reader.engine === 'postgres') return checkSearchInPostgres(this.#reader, this.#report);
    await checkSearchInSqlite(this.#reader, this.#report);
    // PostgreSQL stores no value of a type other than its column's.
    await reportMisstoredInSqlite(this.#reader, READ_WITH_TYPES, this.#report);
  }
}
