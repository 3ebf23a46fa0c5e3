// Bundles web/ into dist/page.html.br: one compressed file with its program and its styles, which it may run and
// nothing else.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';
import { build } from 'esbuild';
import { browserCryptography } from './browser-cryptography.mjs';

const STYLES = ['colors', 'page', 'inputs', 'views', 'records', 'tree'];

export async function buildPage(root) {
  const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  const [script, style] = await Promise.all([bundleScript(root), bundleStyle(root)]);
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
    // No text of the ledger can become markup, whatever the program does.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
  const fillings = [
    ['{{policy}}', policy],
    ['{{version}}', version],
    ['{{version}}', version],
    ['<style></style>', `<style>${style}</style>`],
    ['<script></script>', `<script>${script}</script>`],
  ];
  const page = fillings.reduce(fill, readFileSync(`${root}web/index.html`, 'utf8'));
  // Few users ever read it: compressed, it takes a third of the room.
  writeFileSync(`${root}dist/page.html.br`, brotliCompressSync(page));
}

function fill(page, [place, text]) {
  if (!page.includes(place)) throw new Error(`web/index.html has no ${place}`);
  return page.replace(place, () => text);
}

async function bundleScript(root) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['web/main.ts'],
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'warning',
    plugins: [browserCryptography],
  });
  const text = outputFiles[0].text.trim();
  // Together with a comment, a tag in a text would end or nest the script.
  if (/<!--|<\/script/i.test(text)) throw new Error('the program of the page has markup in it');
  return text;
}

async function bundleStyle(root) {
  const imports = STYLES.map((name) => `@import "./${name}.css";`).join('\n');
  const { outputFiles } = await build({
    stdin: { contents: imports, resolveDir: `${root}web/styles`, loader: 'css' },
    bundle: true,
    write: false,
    minify: true,
    logLevel: 'warning',
  });
  return outputFiles[0].text.trim();
}

function hashOf(text) {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
