const CONTEXT = 3;

/** A unified diff with one hunk: the changes that are shown here lie together. No file is an undefined text. */
export function unifiedDiff(path: string, before: string | undefined, after: string | undefined): string[] {
  const old = linesOf(before);
  const now = linesOf(after);
  let head = 0;
  while (head < Math.min(old.length, now.length) && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const begin = Math.max(0, head - CONTEXT);
  const more = Math.min(tail, CONTEXT);
  const removed = old.slice(head, old.length - tail);
  const added = now.slice(head, now.length - tail);
  return [
    `--- ${before === undefined ? '/dev/null' : path}`,
    `+++ ${after === undefined ? '/dev/null' : path}`,
    `@@ -${range(begin, old.length - tail + more)} +${range(begin, now.length - tail + more)} @@`,
    ...old.slice(begin, head).map((line) => ` ${line}`),
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
    ...old.slice(old.length - tail, old.length - tail + more).map((line) => ` ${line}`),
  ];
}

function linesOf(text: string | undefined): string[] {
  if (text === undefined || text === '') return [];
  return text.replace(/\r?\n$/, '').split(/\r?\n/);
}

function range(begin: number, end: number): string {
  return `${end === begin ? begin : begin + 1},${end - begin}`;
}
