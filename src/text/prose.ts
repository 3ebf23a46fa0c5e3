/** A command to copy, JSON, a line of a signed note, a stack trace, a table, styles: breaks would change what it is. */
const VERBATIM = /^\s+(?:colibri|at) |^\s*[{[]|^— |\S {2,}\S|\p{Noncharacter_Code_Point}/u;

/**
 * Breaks lines that are longer than the terminal between words, under their own indentation. Words are never broken, so
 * that paths, keys and hashes can be copied.
 */
export function wrapProse(lines: string | readonly string[], columns: number | undefined): string[] {
  const all = typeof lines === 'string' ? [lines] : [...lines];
  return columns === undefined ? all : all.flatMap((line) => wrapLine(line, columns));
}

function wrapLine(line: string, columns: number): string[] {
  if (line.length <= columns || VERBATIM.test(line)) return [line];
  const [indent = ''] = /^ */.exec(line) ?? [];
  // An item of an indented list continues below its text.
  const below = /^ +- /.test(line) ? `${indent}  ` : indent;
  const wrapped: string[] = [];
  let current = indent;
  for (const word of line.slice(indent.length).split(' ')) {
    const joined = current.trim() === '' ? current + word : `${current} ${word}`;
    if (joined.length <= columns || current.trim() === '') current = joined;
    else {
      wrapped.push(current);
      current = below + word;
    }
  }
  return [...wrapped, current];
}
