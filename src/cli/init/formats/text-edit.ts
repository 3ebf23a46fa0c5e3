/** A replacement of `length` characters at `offset` of the text before. */
export interface TextEdit {
  readonly offset: number;
  readonly length: number;
  readonly content: string;
}

/** Edits in rising order that do not overlap; what they do not name stays byte for byte. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  return edits.reduceRight(
    (result, { offset, length, content }) => result.slice(0, offset) + content + result.slice(offset + length),
    text,
  );
}

/** The edits that lead back from the text after to the text before. */
export function invertEdits(text: string, edits: readonly TextEdit[]): TextEdit[] {
  let shift = 0;
  return edits.map(({ offset, length, content }) => {
    const inverse = { offset: offset + shift, length: content.length, content: text.slice(offset, offset + length) };
    shift += content.length - length;
    return inverse;
  });
}
