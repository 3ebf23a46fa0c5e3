export interface Call {
  readonly tool: string;
  readonly input: Input;
}

/** What the journal needs to know of an input, and whatever else the tool wants. */
export interface Input {
  readonly task_id?: string;
  readonly session_id?: string;
  readonly status?: string;
  readonly [field: string]: unknown;
}

type Asker = Pick<Asked, 'marker' | 'lane'> & Partial<Pick<Asked, 'isDisturbed'>>;

/** What was asked of Colibri and what it answered, kept outside it. */
export interface Asked {
  /** Unique, and part of the input where the tool stores a text. */
  readonly marker: string;
  readonly lane: string;
  /** The tool; `observe` for an event of a client. */
  readonly tool: string;
  /** The session of a seal, the task of a change. */
  readonly target: string | undefined;
  /** The status that a change of a task asks for. */
  readonly status: string | undefined;
  /** True if its process was disturbed during the call, or had just been started. */
  readonly isDisturbed: boolean;
  /** Whether its server was killed before it had opened the ledger, and could not record an answered ping. */
  mayBeUnrecorded: boolean;
  answer: Answer | undefined;
}

export interface Answer {
  /** The outcome in the exit entry: `ok`, or a code. */
  readonly outcome: string;
  readonly receipt: Receipt | undefined;
  /** How long the call took, without the time that its process was stopped or its answers were not read. */
  readonly waitedMs: number;
  /** When the answer arrived, by the clock of this process. */
  readonly atMs: number;
}

export interface Receipt {
  readonly index: number;
  readonly leaf: string | undefined;
}

/** The record of a round, and the tasks and sessions that its actors have heard of. */
export class Journal {
  readonly asked: Asked[] = [];
  readonly tasks: string[] = [];
  readonly sessions: string[] = [];
  /** Promises that were seen broken while the processes ran. */
  readonly problems: string[] = [];
  readonly #counts = new Map<string, number>();

  ask({ isDisturbed = false, ...who }: Asker, { tool, input }: Call): Asked {
    const target = input.session_id ?? input.task_id;
    const now = { mayBeUnrecorded: false, answer: undefined };
    const asked = { ...who, isDisturbed, tool, target, status: input.status, ...now };
    this.asked.push(asked);
    return asked;
  }

  count(name: string, by = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + by);
  }

  countOf(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  learn(data: Readonly<Record<string, unknown>>): void {
    const { task_id, session_id } = data;
    if (typeof task_id === 'string' && !this.tasks.includes(task_id)) this.tasks.push(task_id);
    if (typeof session_id === 'string' && !this.sessions.includes(session_id)) this.sessions.push(session_id);
  }
}
