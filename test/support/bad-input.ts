import type { Arguments } from './agent.ts';

/** One wrong input: what is wrong with it, and the path that the refusal must name. */
export interface BadInput {
  readonly tool: string;
  readonly defect: string;
  readonly input: Arguments;
  readonly path: readonly (string | number)[];
}

/** Wrong values of one field, by what is wrong with them. */
export type Defects = Readonly<Record<string, unknown>>;
