/**
 * C0 without tab and line feed, DEL, C1, lone surrogates, line separators, bidirectional controls, everything
 * invisible, and noncharacters.
 */
const HIDDEN =
  /(?![\t\n])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\ufff9-\ufffb]/gu;

/** A joiner or a variation selector inside an emoji belongs to its picture. */
const IN_EMOJI = /^(?:\u200d|\ufe0e|\ufe0f)$/;
const PICTURE = /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)$/u;

/** Shows what would be invisible or would reorder the text as an escape, such as \u202e. */
export function visibleText(text: string): string {
  return text.replaceAll(HIDDEN, (character, index: number) => {
    if (IN_EMOJI.test(character) && PICTURE.test(text.slice(Math.max(0, index - 2), index))) return character;
    return Array.from({ length: character.length }, (_, unit) => escapeOf(character.charCodeAt(unit))).join('');
  });
}

function escapeOf(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}
