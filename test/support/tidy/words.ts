/**
 * Phrases that docs/style.md forbids, with the plain ones. Each pattern has brackets in it, so that the rule does not find
 * itself.
 */
const FORBIDDEN: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\b[m]end(?:s|ed|ing)?\b/gi, 'fix'],
  [/\b[f]or ever\b/gi, 'forever'],
  [/\b[w]hoever\b/gi, 'name the actor'],
  [/\b(?:[n]obody|[s]omebody)\b/gi, 'name the actor: the caller, an attacker, no server'],
  [/\b[o]f which\b/gi, 'start a new sentence'],
  [/\b(?:[i]s|[a]re|[w]as|[w]ere) told\b/gi, 'name the message: the client gets, the server reports'],
  [/\b(?:[f]or|[b]y) who\b/gi, 'for callers that'],
  [/(?:^|\/\/ |\* |[.;] )[W]ho (?!(?:can|may|is|has access)\b)\w+s\b/gm, 'the caller'],
  [/\b[s]aid to be\b/gi, 'state it'],
  [/\b[t]hose there are\b/gi, 'existing'],
  [/\b(?:[i]s|[a]s|[t]oo) dear\b/gi, 'expensive'],
  [/\b[n]ow and then\b/gi, 'periodically'],
  [/\b[o]f a kind that there is not\b/gi, 'of an unknown kind'],
];

/** Files whose text follows docs/style.md: code, tests and documents, but not the history of releases. */
export function isPlainText(path: string): boolean {
  if (path === 'CHANGELOG.md') return false;
  return /^(?:[A-Z]+\.md|(?:src|test|bench|torture|scripts|docs|\.agents)\/.*\.(?:ts|mjs|cjs|md))$/.test(path);
}

export function findForbiddenWords(_path: string, text: string): string[] {
  return FORBIDDEN.flatMap(([phrase, instead]) =>
    [...text.matchAll(phrase)].map((match) => {
      const line = text.slice(0, match.index).split('\n').length;
      return `line ${line}: "${match[0].trim()}" (instead: ${instead})`;
    }),
  );
}
