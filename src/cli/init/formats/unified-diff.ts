const CONTEXT = 3;

/** A unified diff with one hunk, because the changes are close together. Undefined stands for a missing file. */
export function unifiedDiff(path: string, before: string | undefined, after: string | undefined): string[] {
  const old = linesOf(before);
  const now = linesOf(after);
  let head = 0;
  while (head < Math.min(old.length, now.length) && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const begin = Math.max(0, head - CONTEXT);
  const more = Math.min(tail, CONTEXT);
  return [
    `--- ${before === undefined ? '/dev/null' : path}`,
    `+++ ${after === undefined ? '/dev/null' : path}`,
    `@@ -${range(begin, old.length - tail + more)} +${range(begin, now.length - tail + more)} @@`,
    ...old.slice(begin, head).map((line) => ` ${line}`),
    ...changedLines(old.slice(head, old.length - tail), now.slice(head, now.length - tail)),
    ...old.slice(old.length - tail, old.length - tail + more).map((line) => ` ${line}`),
  ];
}

/** Computes a longest common subsequence; the lines between the first and the last change are few. */
function changedLines(old: readonly string[], now: readonly string[]): string[] {
  const common = old.map(() => now.map(() => 0));
  const length = (row: number, column: number) => common[row]?.[column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = now.length - 1; column >= 0; column -= 1) {
      const best = Math.max(length(row + 1, column), length(row, column + 1));
      (common[row] as number[])[column] = old[row] === now[column] ? length(row + 1, column + 1) + 1 : best;
    }
  }
  const lines: string[] = [];
  for (let row = 0, column = 0; row < old.length || column < now.length; ) {
    if (row < old.length && column < now.length && old[row] === now[column]) {
      lines.push(` ${old[row]}`);
      row += 1;
      column += 1;
    } else if (column === now.length || (row < old.length && length(row + 1, column) >= length(row, column + 1))) {
      lines.push(`-${old[row]}`);
      row += 1;
    } else {
      lines.push(`+${now[column]}`);
      column += 1;
    }
  }
  return lines;
}

function linesOf(text: string | undefined): string[] {
  if (text === undefined || text === '') return [];
  return text.replace(/\r?\n$/, '').split(/\r?\n/);
}

function range(begin: number, end: number): string {
  return `${end === begin ? begin : begin + 1},${end - begin}`;
}
