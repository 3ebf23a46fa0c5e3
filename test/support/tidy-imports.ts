import { importsOf, resolveImport } from './imports.ts';

/** What a domain may use beside itself: pure rules, the log, the port to the store, and the nouns at the root. */
const OPEN_TO_DOMAINS = [
  'src/integrity/',
  'src/ledger/',
  'src/db/database.ts',
  'src/context.ts',
  'src/errors.ts',
  'src/tool.ts',
  'src/modes.ts',
  'src/config.ts',
  'src/ids.ts',
  'src/fields.ts',
  'src/log.ts',
];
const DOMAIN_PAIRS = new Set(['tasks > trail', 'proofs > trail']);

/** The one place for a hash function: Node's in one file, a portable one in the other. */
const HASH_FILES: Readonly<Record<string, RegExp>> = {
  'src/integrity/sha256.ts': /^node:crypto$/,
  'src/integrity/sha256.browser.ts': /^@noble\/hashes(?:\/|$)/,
};

/** Who may import whom; tests may import anything. */
export function findForeignImports(path: string, text: string): string[] {
  if (path.endsWith('.test.ts')) return [];
  return importsOf(text)
    .filter((name) => !mayImport(path, name))
    .map((name) => `imports ${name}`);
}

function mayImport(path: string, name: string): boolean {
  const target = name.startsWith('.') ? resolveImport(path, name) : name;
  if (path.startsWith('src/integrity/'))
    return target.startsWith('src/integrity/') || (HASH_FILES[path]?.test(target) ?? false);
  if (path.startsWith('web/')) return !target.startsWith('src/') || target.startsWith('src/integrity/');
  if (path.startsWith('src/domains/')) return !target.startsWith('src/') || mayDomainImport(domainOf(path), target);
  if (/^src\/(?:middleware|db|ledger|trust)\//.test(path)) return domainOf(target) === undefined;
  return true;
}

function mayDomainImport(own: string | undefined, target: string): boolean {
  const other = domainOf(target);
  if (other === undefined) return OPEN_TO_DOMAINS.some((open) => target.startsWith(open));
  return other === own || DOMAIN_PAIRS.has(`${own} > ${other}`);
}

function domainOf(path: string): string | undefined {
  return /^src\/domains\/([^/]+)\//.exec(path)?.[1];
}
