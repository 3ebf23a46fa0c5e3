/** Replaces `length` characters at `offset` of the original text. */
export interface TextEdit {
  readonly offset: number;
  readonly length: number;
  readonly content: string;
}

/** The edits must be sorted and must not overlap; all other text is kept byte for byte. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  return edits.reduceRight(
    (result, { offset, length, content }) => result.slice(0, offset) + content + result.slice(offset + length),
    text,
  );
}

/** Returns the edits that turn the new text back into the original. */
export function invertEdits(text: string, edits: readonly TextEdit[]): TextEdit[] {
  let shift = 0;
  return edits.map(({ offset, length, content }) => {
    const inverse = { offset: offset + shift, length: content.length, content: text.slice(offset, offset + length) };
    shift += content.length - length;
    return inverse;
  });
}

/** Returns one edit that turns a text into another, for changes that were made in several steps. */
export function diffEdits(text: string, other: string): TextEdit[] {
  const shorter = Math.min(text.length, other.length);
  let offset = 0;
  while (offset < shorter && text[offset] === other[offset]) offset += 1;
  let tail = 0;
  while (tail < shorter - offset && text.at(-1 - tail) === other.at(-1 - tail)) tail += 1;
  return [{ offset, length: text.length - tail - offset, content: other.slice(offset, other.length - tail) }];
}
