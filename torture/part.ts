import type { Random } from './random.ts';

/** One kind of damage. It is played in rounds until its time is over. */
export interface Part {
  readonly name: string;
  /** What it does to Colibri, in one sentence, for `--help` and the report. */
  readonly says: string;
  /** Shorter runs leave it out, unless `--only` names it. */
  readonly minMinutes?: number;
  /** Minimum number of rounds of a full run, even past its time limit, unless `--rounds` is lower. */
  readonly leastRounds?: number;
  /** How many rounds the short form has; 1 by default. */
  readonly shortRounds?: number;
  /** What a round does follows from its seed, as far as the scheduler of the system allows. */
  readonly play: (round: Round) => Promise<Outcome>;
}

export interface Round {
  readonly seed: number;
  readonly random: Random;
  /** `short`: a small, fixed amount of work for `npm test`, which does not depend on the clock. */
  readonly size: 'short' | 'full';
  /** What is left of the part's time. Rounds of fixed length ignore it. */
  readonly timeMs: number;
  /** An empty folder outside any repository, removed after the round. */
  readonly folder: string;
  /** The URL of a new, empty schema on a PostgreSQL server that runs as long as the program. */
  readonly newPostgresUrl: () => Promise<string>;
  /** Progress, on stderr. */
  readonly log: (line: string) => void;
}

export interface Outcome {
  /** Added up over the rounds. The names are those of the report, in its order. */
  readonly counts: Readonly<Record<string, number>>;
  /** The highest value of any round, with the unit in the name. */
  readonly highest?: Readonly<Record<string, number>>;
  /** Broken promises, one sentence each. A single one fails the run. */
  readonly problems: readonly string[];
  /** What this machine could not try, and why. */
  readonly skipped?: readonly string[];
  /** The script of the round, one step per line; printed with its problems. */
  readonly script?: readonly string[];
}
