import { hasToken, PREFIXED } from './prefixed-tokens.ts';

export interface Shape {
  /** In lower case. Every match contains one of these, in any case. */
  readonly marks: readonly string[];
  /** The first group is what stays, the rest of the match is the secret. */
  readonly pattern: RegExp;
}

const WORD_KEYS =
  'token|api[_-]?key|access[_-]?key|account[_-]?key|shared[_-]?key|auth[_-]?key|private[_-]?key|credentials?|cookie';
const WORD_MARKS = ['token', 'key', 'credential', 'cookie'];
const PASSWORDS = ['password', 'passwd', 'passphrase'];

const EQUALS = `["']?\\s{0,3}(?:=>|:=|[:=])\\s{0,3}`;
/** A quoted text, or all up to a blank. */
const VALUE = `(?:"[^"\\n]{1,4096}|'[^'\\n]{1,4096}|[^\\s"']+)`;
/** Words of a command before an option. The limit keeps the search linear. */
const WORDS = '[^\\n;|&]{0,200}?';
const USER_OPTION = '(?:\\s|^)(?:-[sSfkLviIgjN]{0,8}[uU]|--user|--proxy-user)[ =\\t]{0,4}';
const NO_SECRET = '(?!(?:true|false|null|none|yes|no|on|off|\\d{1,5})(?![\\w-]))';

/** All of `PREFIXED`. */
export const TOKENS = new RegExp(`()(?:${PREFIXED.map(({ source }) => source).join('|')})`, 'g');

export const SHAPES: readonly Shape[] = [
  // Without an end the rest of the text belongs to the key.
  shape(
    ['-----begin '],
    /()-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g,
  ),
  shape(['putty-user-key-file-'], /()PuTTY-User-Key-File-[\s\S]*$/g),
  // Userinfo of a URL or connection string; a password may contain an unescaped "@".
  shape(['://'], /(:\/\/[^\s/:@"'<>]{0,256}:)[^\s/"'<>]{1,512}(?=@)/g),
  shape(['://'], /(:\/\/)[^\s/:@"'<>]{16,512}(?=@)/g),
  // GitHub takes a token as the user, beside a fixed password.
  shape([':x-oauth-basic@'], /(:\/\/)[^\s/:@"'<>]{1,512}(?=:x-oauth-basic@)/g),
  shape(['bearer', 'basic'], /(\b(?:bearer|basic)[ \t]{1,4})[\w.~+/=-]{12,}/gi),
  shape(
    ['authorization'],
    /(\b(?:proxy-)?authorization["']?[ \t]{0,3}[:=][ \t]{0,3}["']?(?:[\w-]{1,32}[ \t]{1,4})?)[^\s"',;]{6,}/gi,
  ),
  // A password has any value, a token or key has a digit in it: "token: string" is not a secret.
  shape([...PASSWORDS, 'secret'], new RegExp(`(${assignment('password|passwd|passphrase|secret')})${VALUE}`, 'gi')),
  shape(PASSWORDS, /((?:password|passwd|passphrase)[ \t]{0,3}:[ \t]{1,4})[^\n"']+/gi),
  shape(
    [...PASSWORDS, 'secret'],
    /(<[\w.:-]{0,30}(?:password|passwd|passphrase|secret)[\w.:-]{0,30}(?:\s[^<>\n]{0,200})?>)[^<>]{1,4096}(?=<\/)/gi,
  ),
  shape(
    WORD_MARKS,
    new RegExp(
      `(<[\\w.:-]{0,30}(?:${WORD_KEYS})(?:\\s[^<>\\n]{0,200})?>)(?=[^<>\\s]{0,64}\\d)[^<>\\s]{8,4096}(?=</)`,
      'gi',
    ),
  ),
  shape(['pwd='], /((?:^|[^a-z])(?:mysql_)?pwd=)(?![/~$.])[^\s"']+/gi),
  shape(WORD_MARKS, new RegExp(`(${assignment(WORD_KEYS)})(?:"[^"\\n]{6,4096}|'[^'\\n]{6,4096})`, 'gi')),
  shape(WORD_MARKS, new RegExp(`(${assignment(WORD_KEYS)})(?=[^\\s"']{0,64}\\d)[^\\s"']{8,}`, 'gi')),
  shape(['_pat'], new RegExp(`(_PAT${EQUALS}["']?)[\\w-]{20,}`, 'g')),
  shape(['sig='], /([?&]sig=)[\w%+/=-]{16,}/gi),
  // "pass" is also a word of test reports, so it needs a prefix, quotes or an equals sign.
  shape(['pass'], new RegExp(`((?:_(?:PASS|pass|Pass)|[a-z]Pass)${EQUALS}(?!true\\b|false\\b|null\\b))${VALUE}`, 'g')),
  shape(['pass'], new RegExp(`((?:^|[^a-z])pass${EQUALS})(?:"[^"\\n]{1,4096}|'[^'\\n]{1,4096})`, 'gi')),
  shape(['pass='], new RegExp(`((?:^|[^a-z])pass=)${NO_SECRET}[^\\s"']+`, 'gi')),
  shape(['_auth'], new RegExp(`(_auth${EQUALS})${NO_SECRET}${VALUE}`, 'gi')),
  shape(['auth"', "auth'"], /(["']auth["']\s{0,3}:\s{0,3}["'])[\w+/=-]{12,}/g),
  shape(
    ['--'],
    /(--(?:password|passwd|passphrase|pass|token|secret|api-key|access-token|client-secret|auth-token|account-key|access-key|secret-key|sas-token)(?:=|[ \t]{1,4})["']?)[^\s"']+/gi,
  ),
  shape([':'], new RegExp(`(${USER_OPTION}["']?[^\\s:"']{1,128}:)(?!//)[^\\s"']+`, 'g')),
  shape([':'], new RegExp(`(${USER_OPTION}(["'])[^\\s:"']{1,128}:)(?!//)(?:(?!\\2)[^\\n])+`, 'g')),
  shape(['login'], new RegExp(`(\\blogin\\b${WORDS}[ \\t]-p[ =\\t]{0,4})${VALUE}`, 'g')),
  // With a blank after -p, mysql asks for the password.
  shape(
    ['mysql', 'mariadb'],
    new RegExp(`(\\b(?:mysql|mariadb)[\\w-]{0,20}[ \\t]${WORDS}(?<=[ \\t])-p)(?!\\d{1,5}:)${VALUE}`, 'g'),
  ),
  shape(['redis-cli'], new RegExp(`(\\bredis-cli\\b${WORDS}[ \\t](?:-a|--pass)[ =\\t]{1,4})${VALUE}`, 'g')),
  shape(
    ['config'],
    new RegExp(
      `(\\bconfig(?:ure)?[ \\t]${WORDS}(?:secret_access_key|session_token|password|secret|token|_auth)[ =\\t]{1,4})${VALUE}`,
      'gi',
    ),
  ),
  // An exported variable of fish.
  shape(
    ['set'],
    new RegExp(
      `(\\bset[ \\t]+(?:-{1,2}[a-z]{1,12}[ \\t]+){1,4}\\w{0,40}(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|_KEY|_PASS)\\w{0,40}[ \\t]+)${VALUE}`,
      'gi',
    ),
  ),
  shape(
    ['--password-stdin'],
    /(\b(?:echo|printf)[ \t]+(?:-[neE]{1,3}[ \t]+|["']%s(?:\\n)?["'][ \t]+)?)(?=[^\n;&|]{1,512}\|[^\n;&|]{0,200}--password-stdin)(?:"[^"\n]{1,512}"|'[^'\n]{1,512}'|[^\s"']+)/g,
  ),
  shape(
    ['sqlcmd', 'zip', 'mosquitto_'],
    new RegExp(`(\\b(?:sqlcmd|(?:un)?zip|mosquitto_\\w{1,10})[ \\t]${WORDS}(?<=[ \\t])-P[ \\t]{0,4})${VALUE}`, 'g'),
  ),
  shape(['ldap'], new RegExp(`(\\bldap[a-z]{3,12}[ \\t]${WORDS}(?<=[ \\t])-w[ \\t]{0,4})${VALUE}`, 'g')),
  shape(['pass:'], /(-pass(?:in|out|word)?[ \t]{1,4}["']?pass:)[^\s"']+/g),
  shape(['storepass', 'keypass'], /((?:storepass|keypass)[ \t]{1,4}["']?)[^\s"']+/g),
  shape(['sshpass'], /(\bsshpass[ \t]+-p[ \t]{0,3}["']?)[^\s"']+/g),
  shape(['login'], /(\blogin\s{1,4}\S{1,128}\s{1,4}password\s{1,4})\S+/g),
];

/**
 * The patterns that can match in this text. All the others need not be compiled, which takes a hook longer than to look
 * for their marks.
 */
export function possiblePatterns(text: string): RegExp[] {
  const lower = text.toLowerCase();
  const possible = SHAPES.filter(({ marks }) => marks.some((mark) => lower.includes(mark)));
  return [...(hasToken(text) ? [TOKENS] : []), ...possible.map(({ pattern }) => pattern)];
}

function shape(marks: readonly string[], pattern: RegExp): Shape {
  return { marks, pattern };
}

/** `key =`, `"key": ` and the like, for a key that ends in one of these words or begins with one. */
function assignment(words: string): string {
  return `(?:${words})[\\w-]{0,30}${EQUALS}`;
}
