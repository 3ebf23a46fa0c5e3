/** Characters that a reader takes for a colon; NFKC turns the full-width, small and vertical ones into it. */
const COLON = /[:\u02d0\u02f8\u0589\u05c3\u0703\u0704\u16ec\u1803\u205a\u2236\u2a74\ua789\ufe13\ufe55\uff1a]/u;
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
/** Cyrillic and Greek letters, in lower case, that look like Latin ones in one of their cases. */
const LATIN = new Map(
  Object.entries({
    b: '\u0432\u044c\u03b2',
    c: '\u0441',
    e: '\u0435\u03b5',
    h: '\u04bb\u043d\u03b7',
    i: '\u0456\u03b9\u0131',
    k: '\u043a\u03ba',
    l: '\u04cf',
    n: '\u03bd\u043f',
    o: '\u043e\u03bf',
    p: '\u0440\u03c1',
    r: '\u0433',
    s: '\u0455',
  }).flatMap(([latin, others]) => Array.from(others, (other) => [other, latin] as const)),
);

const PERSON = new RegExp(`^\\s*person\\s*${COLON.source}`, 'u');
/** What clients and git report is recorded under these names. */
const RECORDER = new RegExp(`^\\s*hook\\s*${COLON.source}`, 'u');
/** The actor of entries that a server makes on its own, such as the genesis. */
const SERVER = 'colibri';

/**
 * Whether a reader would take a name for that of a person (`person:…`). People sign off and their claims never lapse,
 * so that no agent may have such a name.
 */
export function isPersonLike(name: string): boolean {
  return PERSON.test(toLatin(name));
}

/** Whether a reader would take a name for that of a person, of a recorder or of Colibri itself. */
export function isReservedLike(name: string): boolean {
  const latin = toLatin(name);
  return PERSON.test(latin) || RECORDER.test(latin) || latin.trim() === SERVER;
}

/** The name that an agent gets: without the colon that makes it look reserved, or another one. */
export function toAgentName(name: string): string {
  if (!isReservedLike(name)) return name;
  return COLON.test(name) ? name.replace(COLON, '-') : `${SERVER}-client`;
}

function toLatin(name: string): string {
  const plain = name.replaceAll(INVISIBLE, '').normalize('NFKC').toLowerCase();
  return Array.from(plain, (letter) => LATIN.get(letter) ?? letter).join('');
}
