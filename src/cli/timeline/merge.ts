/** Merges sources whose elements are in the order of the log. Holds one element of each source at a time. */
export async function* mergeByEntry<Element extends { readonly entry: number }>(
  sources: readonly AsyncIterable<Element>[],
): AsyncGenerator<Element, void> {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]());
  const heads = await Promise.all(iterators.map((iterator) => iterator.next()));
  for (;;) {
    const place = findFirst(heads);
    const head = heads[place];
    if (head === undefined || head.done === true) return;
    yield head.value;
    heads[place] = (await iterators[place]?.next()) ?? { done: true, value: undefined };
  }
}

function findFirst(heads: readonly IteratorResult<{ readonly entry: number }, unknown>[]): number {
  let [first, lowest] = [-1, Number.POSITIVE_INFINITY];
  for (const [place, head] of heads.entries())
    if (head.done !== true && head.value.entry < lowest) [first, lowest] = [place, head.value.entry];
  return first;
}
