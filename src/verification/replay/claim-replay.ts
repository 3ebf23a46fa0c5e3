import { claimAfter } from '../../domains/tasks/claims/decide.ts';
import type { Task } from '../../domains/tasks/record.ts';
import type { Report } from '../report.ts';
import { NumberColumn } from './number-column.ts';

type Claim = Pick<Task, 'status' | 'holder' | 'taken_from'>;

/** Replays who holds the tasks, with memory for the tasks that are held or were taken over, and derives the tokens. */
export class ClaimReplay {
  readonly #report: Report;
  readonly #claims = new Map<number, Pick<Task, 'holder' | 'taken_from'>>();
  /** The entry of the latest claim; 0 if there is none. */
  readonly #tokens = new NumberColumn();
  /** Tasks whose token is unknown because a version of them does not match the log. */
  readonly #unknown = new Set<number>();

  constructor(report: Report) {
    this.#report = report;
  }

  /** Null if the task was never claimed; undefined if a version is unknown. */
  tokenOf(taskNo: number): number | null | undefined {
    if (this.#unknown.has(taskNo)) return undefined;
    const token = this.#tokens.get(taskNo);
    return token === 0 ? null : token;
  }

  holderOf(taskNo: number): string | null {
    return this.#claims.get(taskNo)?.holder ?? null;
  }

  listHolders(): ReadonlySet<string> {
    return new Set([...this.#claims.values()].flatMap(({ holder }) => holder ?? []));
  }

  created(index: number, taskNo: number, task: Task | undefined): void {
    if (task !== undefined && (task.holder !== null || task.taken_from !== null))
      this.#report(`task event ${index}`, 'is created with a holder');
    this.#remember(taskNo, task);
  }

  /** `from` is the status before this version; undefined if that version is unknown. */
  updated(index: number, taskNo: number, task: Task | undefined, from: string | undefined): void {
    if (task !== undefined && from !== undefined) {
      const { holder, taken_from } = this.#claims.get(taskNo) ?? { holder: null, taken_from: null };
      this.#check(index, taskNo, task, { status: from, holder, taken_from });
    }
    this.#remember(taskNo, task);
  }

  #check(index: number, taskNo: number, task: Task, before: Claim): void {
    const isStep = task.status !== before.status || task.holder !== before.holder;
    const step = { actor: task.updated_by, status: isStep ? task.status : undefined };
    const expected = claimAfter({ ...before, workflow: task.workflow }, step);
    // Earlier versions recorded no holders; what they started stays valid.
    const isEarlier = before.holder === null && task.holder === null && task.taken_from === before.taken_from;
    if (isEarlier) return;
    if (expected.isNew) this.#tokens.set(taskNo, index);
    if (task.holder !== expected.holder || task.taken_from !== expected.taken_from)
      this.#report(`task event ${index}`, `has holder ${task.holder} where the claim rules give ${expected.holder}`);
  }

  #remember(taskNo: number, task: Task | undefined): void {
    if (task === undefined) this.#unknown.add(taskNo);
    if (task === undefined || (task.holder === null && task.taken_from === null)) this.#claims.delete(taskNo);
    else this.#claims.set(taskNo, { holder: task.holder, taken_from: task.taken_from });
  }
}
