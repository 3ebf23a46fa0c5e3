/** A list that may be cut at a limit, with the number of items before the cut. */
export interface CutList<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/** Names a list in an answer; a cut one also has `truncated` and its total, because a silent cut would mislead. */
export function cutAnswer<Item>(name: string, { items, total }: CutList<Item>): Readonly<Record<string, unknown>> {
  return items.length === total ? { [name]: items } : { [name]: items, [`${name}_total`]: total, truncated: true };
}
