/** Text that would act on a terminal or deceive its reader. Each ends in a line that only a forger would want to see. */
export const HOSTILE_TEXTS = {
  'clears the screen': '\u001b[2J\u001b[H',
  'sets the title': '\u001b]0;FORGED\u0007',
  'hides a link (OSC 8)': '\u001b]8;;https://example.invalid/\u001b\\link\u001b]8;;\u001b\\',
  'writes to the clipboard (OSC 52)': '\u001b]52;c;Zm9yZ2Vk\u0007',
  'colours text green': '\u001b[32mFORGED\u001b[0m',
  'conceals what follows': '\u001b[8m',
  'overwrites the line': '\rFORGED',
  'begins a line': '\nFORGED',
  'begins a line with CR LF': '\r\nFORGED',
  'moves to a tab stop': 'a\tb',
  'moves back': 'abc\b\b\b',
  'rings, feeds and tabs': '\u0007\u000b\u000c',
  'deletes (DEL)': 'a\u007f',
  'uses the C1 form of CSI': '\u009b2J',
  'uses the C1 form of OSC': '\u009d52;c;eA==\u009c',
  'begins a line by NEL': '\u0085FORGED',
  'begins a line by a separator': '\u2028FORGED\u2029FORGED',
  'turns the direction (override)': '\u202eelohw',
  'turns the direction (isolate)': '\u2067elohw\u2069',
  'turns the direction (marks)': '\u200e\u200f\u061c',
  'is invisible': 'who\u200ble\u2060\ufeff\u00ad',
  'joins nothing': 'a\u200db\u200cc',
  'carries tag characters': '\u{e0041}\u{e0042}',
  'carries data in variation selectors': 'a\ufe00\ufe01\u{e0100}\u{e0101}',
  'is a noncharacter': '\ufdd000000000;31\ufdd1',
} as const;

export const EVERYTHING_HOSTILE = Object.values(HOSTILE_TEXTS).join(' ');

/** Ranges, so that it is not the expression under test. Without the newline, which ends our own lines. */
const RAW: readonly (readonly [first: number, last: number])[] = [
  [0x00, 0x09],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x61c, 0x61c],
  [0x180e, 0x180e],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0xd800, 0xdfff],
  [0xfdd0, 0xfdef],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xfff9, 0xfffb],
  [0xfffe, 0xffff],
  [0xe0000, 0xe0fff],
];

/** Bold, dim, the colours and their ends. */
const OWN_STYLES = [1, 2, 22, 31, 32, 33, 34, 35, 36, 39, 90].map((code) => `\u001b[${code}m`);

/** Every raw character that should have been escaped, and every line that data began. */
export function findRaw(output: string, { hasColors = false } = {}): string[] {
  const text = hasColors ? OWN_STYLES.reduce((rest, style) => rest.replaceAll(style, ''), output) : output;
  const raw = Array.from(text, (character) => character.codePointAt(0) ?? 0)
    .filter((code) => RAW.some(([first, last]) => code >= first && code <= last))
    .map((code) => `U+${code.toString(16).padStart(4, '0')}`);
  const forged = text.split('\n').filter((line) => line.startsWith('FORGED'));
  return [...raw, ...forged.map((line) => `the line ${JSON.stringify(line)}`)];
}
