import type { Problem } from './verify-log.ts';

/** Problems in the order of the log, in whatever order they are found: the nodes of a tree may come late. */
export class ProblemList {
  /** How far the log has been read; what is reported without a place in the log belongs here. */
  position = 0;
  readonly #found: (Problem & { readonly position: number })[] = [];

  readonly report = (place: string, problem: string, position = this.position): void => {
    this.#found.push({ place, problem, position });
  };

  list(): Problem[] {
    const inOrder = this.#found.sort((left, right) => left.position - right.position);
    return inOrder.map(({ place, problem }) => ({ place, problem }));
  }
}
