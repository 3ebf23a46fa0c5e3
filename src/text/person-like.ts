/** Characters that a reader takes for a colon; NFKC turns the full-width, small and vertical ones into it. */
const COLON = /[:\u02d0\u02f8\u0589\u05c3\u0703\u0704\u16ec\u1803\u205a\u2236\u2a74\ua789\ufe13\ufe55\uff1a]/u;
/** Beside Latin letters, the Cyrillic and Greek ones that look like them, in lower case. */
const PERSON_LIKE = new RegExp(
  `^\\s*[p\u0440\u03c1][e\u0435\u03b5]r[s\u0455][o\u043e\u03bf][n\u03bd]\\s*${COLON.source}`,
  'u',
);
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Whether a reader would take a name for that of a person (`person:…`). People sign off and their claims never lapse,
 * so that no agent may have such a name.
 */
export function isPersonLike(name: string): boolean {
  return PERSON_LIKE.test(name.replaceAll(INVISIBLE, '').normalize('NFKC').toLowerCase());
}

/** The name without the colon that makes it look like a person's. */
export function withoutPersonPrefix(name: string): string {
  return isPersonLike(name) ? name.replace(COLON, '-') : name;
}
