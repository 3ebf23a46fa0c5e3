/**
 * Phrases that docs/style.md forbids, with the plain ones. Each pattern has brackets in it, so that the rule does not
 * find itself.
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

/** Names that were replaced by the term of the trade. Words that also have a plain meaning are not here. */
const OLD_NAMES = [
  '[f]oresee\\w*',
  '[h]ash-?thread',
  '[b]yte-?text',
  '[a]ction-?log',
  '[c]ommon-?history',
  '[s]urplus',
  '[c]heck-?places',
  '[s]ame-?place',
  '[l]iving-?way',
  '[s]econd-?phase',
  '[a]ttentive',
  '[o]nly-?files',
  '[k]eep-compiled-code',
  '[h]ouse-server',
  '[f]loor-server',
  '[b]usy-?day',
  '[f]ixture-?patient',
  '[c]opy-?spots',
  '[o]ddities',
  '[a]ssertNoCircle',
  '[r]efuseCircles',
  '[p]atiently',
  '[s]endLast',
  '[w]riteAtOnce',
  '[p]ayOwed',
  '[o]weWhatMayBeLost',
  '[l]earnFate',
  '[i]nWordsOfTheCommand',
  '[e]ndQuietlyWhenUnread',
];
const REPLACED = new RegExp(`\\b(?:${OLD_NAMES.join('|')})\\b`, 'gi');

/** The history of releases, and a migration that is applied and therefore never edited. */
const EXEMPT: ReadonlySet<string> = new Set(['CHANGELOG.md', 'src/db/migrations/0002-tasks.sql']);

/** Files whose text follows docs/style.md: code, tests, documents, manual pages and SQL. */
export function isPlainText(path: string): boolean {
  if (EXEMPT.has(path)) return false;
  const folder = /^(?:src|test|web|bench|torture|scripts|docs|man|examples|\.agents)\//;
  return (
    /^[A-Z]+\.md$/.test(path) || (folder.test(path) && /\.(?:ts|[cm]js|md|sql|py|html|css|sh|yml|[1-9])$/.test(path))
  );
}

export function findForbiddenWords(_path: string, text: string): string[] {
  return [...FORBIDDEN, [REPLACED, 'the new name'] as const].flatMap(([phrase, instead]) =>
    [...text.matchAll(phrase)].map((match) => {
      const line = text.slice(0, match.index).split('\n').length;
      return `line ${line}: "${match[0].trim()}" (instead: ${instead})`;
    }),
  );
}
