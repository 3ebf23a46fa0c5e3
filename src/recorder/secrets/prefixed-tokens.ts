/** Tokens that their issuers made recognizable by a prefix. */
export interface PrefixedToken {
  /** Every match contains one of these. */
  readonly marks: readonly string[];
  /** Ends in one greedy class, so nothing backtracks. */
  readonly source: string;
}

export const PREFIXED: readonly PrefixedToken[] = [
  // AWS
  token('AKIA ASIA ABIA ACCA AGPA AIDA AROA', '(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AROA)[A-Z0-9]{16}'),
  // GitHub
  token('ghp_ gho_ ghu_ ghs_ ghr_ github_pat_', 'gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\\w{20,}'),
  // GitLab
  token(
    'glpat- glptt- gldt- glrt- glrtr- glcbt- glft- glsoat- glagent- glimt- gloas- glffct-',
    'gl(?:pat|ptt|dt|rt|rtr|cbt|ft|soat|agent|imt|oas|ffct)-[\\w-]{16,}',
  ),
  // Slack
  token(
    'xox xapp- hooks.slack.com/',
    'xox[abeoprs]-[\\w-]{10,}|xapp-[\\w-]{10,}|hooks\\.slack\\.com/(?:services|workflows)/[\\w/]{16,}',
  ),
  // Stripe
  token('k_live_ k_test_ whsec_', '(?:sk|rk|pk)_(?:live|test)_\\w{10,}|whsec_[\\w+/=]{16,}'),
  // OpenAI (sk-proj-), Anthropic (sk-ant-), OpenRouter
  token('sk-', 'sk-[\\w-]{20,}'),
  // Google
  token('AIza ya29. GOCSPX-', 'AIza[\\w-]{35,}|ya29\\.[\\w-]{20,}|GOCSPX-[\\w-]{20,}'),
  token('npm_', 'npm_[A-Za-z0-9]{30,}'),
  token('pypi-', 'pypi-[\\w-]{20,}'),
  // Model hosts
  token(
    'hf_ gsk_ xai- pplx- r8_',
    'hf_[A-Za-z0-9]{20,}|gsk_[A-Za-z0-9]{20,}|xai-[\\w-]{20,}|pplx-[\\w-]{20,}|r8_[A-Za-z0-9]{20,}',
  ),
  // SendGrid
  token('SG.', 'SG\\.[\\w-]{16,64}\\.[\\w-]{16,}'),
  // Twilio
  token('SK AC', '(?:SK|AC)[0-9a-f]{32}'),
  // DigitalOcean
  token('doo_v1_ dop_v1_ dor_v1_', 'do[opr]_v1_[a-f0-9]{32,}'),
  // Shopify
  token('shpat_ shpca_ shppa_ shpss_', 'shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32,}'),
  // Docker
  token('dckr_', 'dckr_(?:pat|oat)_[\\w-]{20,}'),
  // HashiCorp
  token('hvs. hvb. hvr. .atlasv1.', 'hv[sbr]\\.[\\w-]{20,}|[A-Za-z0-9]{14}\\.atlasv1\\.[\\w-]{40,}'),
  // Databricks
  token('dapi', 'dapi[a-f0-9]{32,}'),
  // Linear, Atlassian, Notion
  token(
    'lin_api_ ATATT ATCTT secret_ ntn_',
    'lin_api_[A-Za-z0-9]{20,}|ATATT[\\w=-]{20,}|ATCTT[\\w=-]{20,}|secret_[A-Za-z0-9]{40,}|ntn_[A-Za-z0-9]{40,}',
  ),
  // Monitoring
  token('NRAK- glsa_ glc_ dt0c01.', 'NRAK-[A-Z0-9]{20,}|glsa_\\w{20,}|glc_[\\w+/=]{20,}|dt0c01\\.[\\w.]{20,}'),
  token(
    'PMAK- HRKU- key- AGE-SECRET-KEY-1 sbp_',
    'PMAK-[\\w-]{20,}|HRKU-[\\w-]{20,}|key-[0-9a-f]{32}|AGE-SECRET-KEY-1[A-Z0-9]{20,}|sbp_[a-f0-9]{40,}',
  ),
  token(
    'figd_ sntrys_ sntryu_ sq0csp- sq0atp- sq0idp- CFPAT-',
    'figd_[\\w-]{20,}|sntry[su]_[\\w+/=-]{20,}|sq0(?:csp|atp|idp)-[\\w-]{20,}|CFPAT-[\\w-]{20,}',
  ),
  token('pscale_ dp.', 'pscale_(?:pw|tkn|oauth)_[\\w.-]{20,}|dp\\.(?:pt|st|ct|sa|scim|audit)\\.[\\w.-]{30,}'),
  // Render, Vercel, Fly
  token('rnd_ vca_ vci_ vck_ vcp_ vcr_ fo1_ fm1 fm2', '\\b(?:rnd|vc[aikpr]|fo1|fm[12][ar]?)_[\\w+/=-]{20,}'),
  // Netlify
  token('nfp_ nfc_ nfo_ nfu_ nfb_', '\\bnf[pcoub]_[A-Za-z0-9]{20,}'),
  // RubyGems, Pulumi, Tailscale, LangSmith
  token(
    'rubygems_ pul- tskey- lsv2_',
    'rubygems_[a-f0-9]{40,}|\\bpul-[a-f0-9]{40,}|tskey-[a-z]{3,12}-[\\w-]{16,}|lsv2_(?:pt|sk)_\\w{20,}',
  ),
  // Airtable
  token('pat', '\\bpat[A-Za-z0-9]{14}\\.[0-9a-f]{40,}'),
  // Asana
  token('/', '\\b\\d/\\d{13,20}(?:/\\d{13,20})?:[0-9a-f]{32,}'),
  // Cloudflare
  token('v1.0-', '\\bv1\\.0-[0-9a-f]{24}-[0-9a-f]{40,}'),
  // Telegram
  token(':AA', '\\b\\d{8,10}:AA[\\w-]{33,}'),
  token('discord', 'discord(?:app)?\\.com/api/(?:v\\d{1,2}/)?webhooks/\\d{5,30}/[\\w-]{20,}'),
  // Discord
  token('.', '\\b[MNO][\\w-]{23,27}\\.[\\w-]{6}\\.[\\w-]{27,}'),
  // A look-behind lets only the beginning of a word begin a JSON Web Token: otherwise a long one costs its square.
  token('eyJ', '(?<![\\w-])eyJ[\\w-]{8,}\\.[\\w-]{8,}(?:\\.[\\w-]*){0,3}'),
];

/** Whether the text holds one of the tokens. Compiles only the patterns whose marks are in it. */
export function hasToken(text: string): boolean {
  return PREFIXED.some(
    ({ marks, source }) => marks.some((mark) => text.includes(mark)) && new RegExp(source).test(text),
  );
}

function token(marks: string, source: string): PrefixedToken {
  return { marks: marks.split(' '), source };
}
