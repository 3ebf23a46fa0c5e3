/** Blanks several texts. One search over all of them is enough in the usual case, that there is no secret. */
export function blankAll<Name extends string>(texts: Texts<Name>): Texts<Name> {
  const all = Object.values<string | null>(texts).filter((text) => text !== null);
  if (listSecrets(all.join('\n')).length === 0) return texts;
  const blanked = Object.entries<string | null>(texts).map(([name, text]) => [
    name,
    text === null ? null : blankSecrets(text),
  ]);
  return Object.fromEntries(blanked) as Texts<Name>;
}

export type Texts<Name extends string> = Readonly<Record<Name, string | null>>;

/** Replaces the known shapes of secrets. Over-blanking is harmless; a missed secret stays on disk. */
export function blankSecrets(text: string): string {
  const ranges = listSecrets(text);
  return ranges.length === 0 ? text : replaceRanges(text, ranges);
}

export const BLANK = '[blanked]';

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Tokens that their issuers made recognizable by a prefix. Each ends in one greedy class, so nothing backtracks. */
const PREFIXED = [
  '(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AROA)[A-Z0-9]{16}', // AWS
  'gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\\w{20,}', // GitHub
  'gl(?:pat|ptt|dt|rt|rtr|cbt|ft|soat|agent|imt|oas|ffct)-[\\w-]{16,}', // GitLab
  'xox[abeoprs]-[\\w-]{10,}|xapp-[\\w-]{10,}|hooks\\.slack\\.com/(?:services|workflows)/[\\w/]{16,}', // Slack
  '(?:sk|rk|pk)_(?:live|test)_\\w{10,}|whsec_[\\w+/=]{16,}', // Stripe
  'sk-[\\w-]{20,}', // OpenAI (sk-proj-), Anthropic (sk-ant-), OpenRouter
  'AIza[\\w-]{35,}|ya29\\.[\\w-]{20,}|GOCSPX-[\\w-]{20,}', // Google
  'npm_[A-Za-z0-9]{30,}',
  'pypi-[\\w-]{20,}',
  'hf_[A-Za-z0-9]{20,}|gsk_[A-Za-z0-9]{20,}|xai-[\\w-]{20,}|pplx-[\\w-]{20,}|r8_[A-Za-z0-9]{20,}', // model hosts
  'SG\\.[\\w-]{16,64}\\.[\\w-]{16,}', // SendGrid
  '(?:SK|AC)[0-9a-f]{32}', // Twilio
  'do[opr]_v1_[a-f0-9]{32,}', // DigitalOcean
  'shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32,}', // Shopify
  'dckr_(?:pat|oat)_[\\w-]{20,}', // Docker
  'hv[sbr]\\.[\\w-]{20,}|[A-Za-z0-9]{14}\\.atlasv1\\.[\\w-]{40,}', // HashiCorp
  'dapi[a-f0-9]{32,}', // Databricks
  'lin_api_[A-Za-z0-9]{20,}|ATATT[\\w=-]{20,}|ATCTT[\\w=-]{20,}|secret_[A-Za-z0-9]{40,}|ntn_[A-Za-z0-9]{40,}',
  'NRAK-[A-Z0-9]{20,}|glsa_\\w{20,}|glc_[\\w+/=]{20,}|dt0c01\\.[\\w.]{20,}', // monitoring
  'PMAK-[\\w-]{20,}|HRKU-[\\w-]{20,}|key-[0-9a-f]{32}|AGE-SECRET-KEY-1[A-Z0-9]{20,}|sbp_[a-f0-9]{40,}',
  'figd_[\\w-]{20,}|sntry[su]_[\\w+/=-]{20,}|sq0(?:csp|atp|idp)-[\\w-]{20,}|CFPAT-[\\w-]{20,}',
  'pscale_(?:pw|tkn|oauth)_[\\w.-]{20,}|dp\\.(?:pt|st|ct|sa|scim|audit)\\.[\\w.-]{30,}',
  '\\b(?:rnd|vc[aikpr]|fo1|fm[12][ar]?)_[\\w+/=-]{20,}', // Render, Vercel, Fly
  '\\bpat[A-Za-z0-9]{14}\\.[0-9a-f]{40,}', // Airtable
  '\\b\\d/\\d{13,20}(?:/\\d{13,20})?:[0-9a-f]{32,}', // Asana
  '\\bv1\\.0-[0-9a-f]{24}-[0-9a-f]{40,}', // Cloudflare
  '\\b\\d{8,10}:AA[\\w-]{33,}', // Telegram
  'discord(?:app)?\\.com/api/(?:v\\d{1,2}/)?webhooks/\\d{5,30}/[\\w-]{20,}',
  '\\b[MNO][\\w-]{23,27}\\.[\\w-]{6}\\.[\\w-]{27,}', // Discord
  // A look-behind lets only the beginning of a word begin a JSON Web Token: otherwise a long one costs its square.
  '(?<![\\w-])eyJ[\\w-]{8,}\\.[\\w-]{8,}(?:\\.[\\w-]*){0,3}',
];

const WORD_KEYS =
  'token|api[_-]?key|access[_-]?key|account[_-]?key|shared[_-]?key|auth[_-]?key|private[_-]?key|credentials?|cookie';

const EQUALS = `["']?\\s{0,3}(?:=>|:=|[:=])\\s{0,3}`;
/** A quoted text, or all up to a blank. */
const VALUE = `(?:"[^"\\n]{1,4096}|'[^'\\n]{1,4096}|[^\\s"']+)`;
/** Words of a command before an option. The limit keeps the search linear. */
const WORDS = '[^\\n;|&]{0,200}?';
const USER_OPTION = '(?:\\s|^)(?:-[sSfkLviIgjN]{0,8}[uU]|--user|--proxy-user)[ =\\t]{0,4}';
const NO_SECRET = '(?!(?:true|false|null|none|yes|no|on|off|\\d{1,5})(?![\\w-]))';

/** The first group is what stays, the rest of the match is the secret. */
const SHAPES: readonly RegExp[] = [
  new RegExp(`()(?:${PREFIXED.join('|')})`, 'g'),
  // Without an end the rest of the text belongs to the key.
  /()-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g,
  /()PuTTY-User-Key-File-[\s\S]*$/g,
  // Userinfo of a URL or connection string; a password may contain an unescaped "@".
  /(:\/\/[^\s/:@"'<>]{0,256}:)[^\s/"'<>]{1,512}(?=@)/g,
  /(:\/\/)[^\s/:@"'<>]{16,512}(?=@)/g,
  /(\b(?:bearer|basic)[ \t]{1,4})[\w.~+/=-]{12,}/gi,
  /(\b(?:proxy-)?authorization["']?[ \t]{0,3}[:=][ \t]{0,3}["']?(?:[\w-]{1,32}[ \t]{1,4})?)[^\s"',;]{6,}/gi,
  // A password has any value, a token or key has a digit in it: "token: string" is not a secret.
  new RegExp(`(${assignment('password|passwd|passphrase|secret')})${VALUE}`, 'gi'),
  /((?:password|passwd|passphrase)[ \t]{0,3}:[ \t]{1,4})[^\n"']+/gi,
  /((?:^|[^a-z])(?:mysql_)?pwd=)(?![/~$.])[^\s"']+/gi,
  new RegExp(`(${assignment(WORD_KEYS)})(?:"[^"\\n]{6,4096}|'[^'\\n]{6,4096})`, 'gi'),
  new RegExp(`(${assignment(WORD_KEYS)})(?=[^\\s"']{0,64}\\d)[^\\s"']{8,}`, 'gi'),
  new RegExp(`(_PAT${EQUALS}["']?)[\\w-]{20,}`, 'g'),
  /([?&]sig=)[\w%+/=-]{16,}/gi,
  // "pass" is also a word of test reports, so it needs a prefix, quotes or an equals sign.
  new RegExp(`((?:_(?:PASS|pass|Pass)|[a-z]Pass)${EQUALS}(?!true\\b|false\\b|null\\b))${VALUE}`, 'g'),
  new RegExp(`((?:^|[^a-z])pass${EQUALS})(?:"[^"\\n]{1,4096}|'[^'\\n]{1,4096})`, 'gi'),
  new RegExp(`((?:^|[^a-z])pass=)${NO_SECRET}[^\\s"']+`, 'gi'),
  new RegExp(`(_auth${EQUALS})${NO_SECRET}${VALUE}`, 'gi'),
  /(["']auth["']\s{0,3}:\s{0,3}["'])[\w+/=-]{12,}/g,
  /(--(?:password|passwd|passphrase|pass|token|secret|api-key|access-token|client-secret|auth-token|account-key|access-key|secret-key|sas-token)(?:=|[ \t]{1,4})["']?)[^\s"']+/gi,
  new RegExp(`(${USER_OPTION}["']?[^\\s:"']{1,128}:)(?!//)[^\\s"']+`, 'g'),
  new RegExp(`(${USER_OPTION}(["'])[^\\s:"']{1,128}:)(?!//)(?:(?!\\2)[^\\n])+`, 'g'),
  new RegExp(`(\\blogin\\b${WORDS}[ \\t]-p[ =\\t]{0,4})${VALUE}`, 'g'),
  // With a blank after -p, mysql asks for the password.
  new RegExp(`(\\b(?:mysql|mariadb)[\\w-]{0,20}[ \\t]${WORDS}(?<=[ \\t])-p)(?!\\d{1,5}:)${VALUE}`, 'g'),
  new RegExp(`(\\bredis-cli\\b${WORDS}[ \\t](?:-a|--pass)[ =\\t]{1,4})${VALUE}`, 'g'),
  new RegExp(
    `(\\bconfig(?:ure)?[ \\t]${WORDS}(?:secret_access_key|session_token|password|secret|token|_auth)[ =\\t]{1,4})${VALUE}`,
    'gi',
  ),
  /(-pass(?:in|out|word)?[ \t]{1,4}["']?pass:)[^\s"']+/g,
  /((?:storepass|keypass)[ \t]{1,4}["']?)[^\s"']+/g,
  /(\bsshpass[ \t]+-p[ \t]{0,3}["']?)[^\s"']+/g,
  /(\blogin\s{1,4}\S{1,128}\s{1,4}password\s{1,4})\S+/g,
];

/** Also finds secrets in JSON inside JSON: the unescaped text counts. */
function listSecrets(text: string): Range[] {
  const ranges = findSecrets(text);
  if (!text.includes('\\')) return ranges;
  const { plain, starts } = undoEscapes(text);
  for (const { start, end } of findSecrets(plain))
    ranges.push({ start: starts[start] ?? text.length, end: starts[end] ?? text.length });
  return ranges;
}

/** `key =`, `"key": ` and the like, for a key that ends in one of these words or begins with one. */
function assignment(words: string): string {
  return `(?:${words})[\\w-]{0,30}${EQUALS}`;
}

function findSecrets(text: string): Range[] {
  const ranges: Range[] = [];
  for (const shape of SHAPES) {
    for (const match of text.matchAll(shape)) {
      const [whole, kept = ''] = match;
      ranges.push({ start: match.index + kept.length, end: match.index + whole.length });
    }
  }
  return ranges;
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** Undoes any number of levels of JSON escapes at once; `starts` maps each character to where it came from. */
function undoEscapes(text: string): { readonly plain: string; readonly starts: readonly number[] } {
  const characters: string[] = [];
  const starts: number[] = [];
  for (let at = 0; at < text.length; ) {
    starts.push(at);
    if (text[at] !== '\\') {
      characters.push(text[at] as string);
      at += 1;
      continue;
    }
    while (text[at] === '\\') at += 1;
    const code = text[at] === 'u' ? /^[0-9a-fA-F]{4}/.exec(text.slice(at + 1, at + 5)) : null;
    if (code !== null) {
      characters.push(String.fromCharCode(Number.parseInt(code[0], 16)));
      at += 5;
    } else {
      const next = text[at];
      characters.push(next === undefined ? '\\' : (ESCAPES[next] ?? next));
      at += 1;
    }
  }
  return { plain: characters.join(''), starts };
}

function replaceRanges(text: string, ranges: Range[]): string {
  ranges.sort((left, right) => left.start - right.start);
  let result = '';
  let done = 0;
  for (const { start, end } of ranges) {
    if (end <= done) continue;
    // Overlapping shapes become one blank.
    if (start > done || done === 0) result += text.slice(done, start) + BLANK;
    done = end;
  }
  return result + text.slice(done);
}
