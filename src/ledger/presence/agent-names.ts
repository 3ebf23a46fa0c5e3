import type { Liveness, Reader } from '../../db/database.ts';
import { dialectOf } from '../../db/dialect.ts';
import { hadSameParent, ranInSameFolder } from '../../db/process-id.ts';
import { chooseName, isNameOf, type KnownAgent } from './agent-name.ts';
import { sharedSilence } from './signs.ts';
import { processOf } from './stale-rows.ts';

/** A name that was chosen in a transaction, and the row of its last dead process, which the next call replaces. */
export interface ChosenName {
  readonly actor: string;
  readonly replaces: number | null;
}

interface NamesakeRow {
  readonly sequence_no: number;
  readonly actor: string;
  readonly clock_id: string | null;
  readonly clock_ms: number | null;
  readonly now_ms: number;
  readonly entry: string;
  /** Of the task that the actor claimed last; null if it holds none. */
  readonly holder: string | null;
  readonly claim_idx: number | null;
  readonly taken_from: string | null;
}

/** The names of the clients of this process. A name is chosen once, in the transaction of the client's first call. */
export class AgentNames {
  readonly #database: Liveness;
  readonly #processId: string;
  readonly #kept = new Map<string, string>();
  readonly #firstCalls = new Map<string, number>();

  constructor(database: Liveness, processId: string) {
    this.#database = database;
    this.#processId = processId;
  }

  find(client: string): string | undefined {
    return this.#kept.get(client);
  }

  /** Under the write lock, and with a sign of life in the same transaction, no two live processes share a name. */
  async choose(db: Reader, client: string): Promise<ChosenName> {
    const known = await this.#listNamesakes(db, client);
    const actor = chooseName(client, known);
    return { actor, replaces: known.find(({ name }) => name === actor)?.lastCall ?? null };
  }

  /** The dead agents with tasks that this process may continue under another name, the one that called last first. */
  async listPredecessors(db: Reader, client: string, actor: string): Promise<string[]> {
    const firstCall = this.#firstCalls.get(actor) ?? Number.POSITIVE_INFINITY;
    return (await this.#listNamesakes(db, client))
      .filter(({ name, isAlive, lastCall }) => name !== actor && !isAlive && lastCall < firstCall)
      .filter(({ holdsTask, isOwnFolder }) => holdsTask && isOwnFolder)
      .map(({ name }) => name);
  }

  /** Call it after the transaction of a call has committed. */
  keep(client: string, actor: string, call: number): void {
    if (this.#kept.has(client)) return;
    this.#kept.set(client, actor);
    this.#firstCalls.set(actor, call);
  }

  /** The first call that this process made under a name. */
  firstCallOf(actor: string): number | undefined {
    return this.#firstCalls.get(actor);
  }

  /** The agents that have, or had, a name of this client. */
  async #listNamesakes(db: Reader, client: string): Promise<KnownAgent[]> {
    const { clock } = this.#database;
    const rows = await db.query<NamesakeRow>(
      `SELECT presence.sequence_no, presence.actor, clock_id, clock_ms, now_ms, entry, holder, claim_idx, taken_from
       FROM presence JOIN ledger_entries ON ledger_entries.idx = presence.sequence_no
       CROSS JOIN (SELECT ${dialectOf(db).clock('$1')} AS now_ms) AS clock
       LEFT JOIN tasks ON tasks.task_no =
         (SELECT task_no FROM tasks WHERE tasks.holder = presence.actor ORDER BY claim_idx DESC LIMIT 1)
       ORDER BY presence.sequence_no DESC`,
      [clock.nowMs()],
    );
    const namesakes = rows.filter(({ actor }) => isNameOf(client, actor));
    // Asked together: on PostgreSQL each question is a round trip, and every other server waits for the first call.
    const alive = await Promise.all(namesakes.map(({ entry }) => this.#database.isAlive(processOf(entry))));
    const agents = new Map<string, KnownAgent>();
    for (const [place, row] of namesakes.entries()) {
      const { sequence_no, actor, entry, holder, claim_idx, taken_from } = row;
      const processId = processOf(entry);
      const isAlive = alive[place] === true;
      const newest = agents.get(actor);
      agents.set(actor, {
        name: actor,
        isOwnClient: hadSameParent(processId, this.#processId),
        isOwnFolder: ranInSameFolder(processId, this.#processId),
        holdsTask: holder !== null,
        latestClaim: claim_idx ?? 0,
        tookFrom: taken_from,
        lastCall: sequence_no,
        silentMs: sharedSilence([row], clock.id) ?? Number.POSITIVE_INFINITY,
        ...newest,
        isOwn: processId === this.#processId || (newest?.isOwn ?? false),
        isAlive: isAlive || (newest?.isAlive ?? false),
      });
    }
    return [...agents.values()];
  }
}
