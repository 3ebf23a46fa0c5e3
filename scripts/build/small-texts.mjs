// The package has a limit of size: what no one reads there is left out, and what is rarely read is compressed.
import { readFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';

/** Lines between statements. SQLite keeps the text of a statement, and with it what stands inside. */
const COMMENT_LINE = /^--.*\n/gm;

export const withoutSqlComments = {
  name: 'without-sql-comments',
  setup: (bundler) =>
    bundler.onLoad({ filter: /\/migrations\/[\w.-]+\.sql$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll(COMMENT_LINE, ''),
      loader: 'text',
    })),
};

/** A query in a template, without comments. Databases keep the text of CREATE statements, which stay as they are. */
const QUERY = /`\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b(?:(?!--|\/\/)[^`])*`/g;

/** Add it last: the first plugin that loads a file wins. */
export const withoutSqlIndents = {
  name: 'without-sql-indents',
  setup: (bundler) =>
    bundler.onLoad({ filter: /\/src\/[\w/.-]+\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll(QUERY, (query) => query.replaceAll(/\n +/g, '\n')),
      loader: 'ts',
    })),
};

/** For a program that opens no database of PostgreSQL. */
export const withoutPostgresMigrations = {
  name: 'without-postgres-migrations',
  setup: (bundler) => bundler.onLoad({ filter: /\.postgres\.sql$/ }, () => ({ contents: '', loader: 'text' })),
};

/** Only servers of teams read it. */
export const packedPostgresSchema = {
  name: 'packed-postgres-schema',
  setup: (bundler) =>
    bundler.onLoad({ filter: /\/db\/postgres\/schema\.ts$/ }, ({ path }) => {
      const code = readFileSync(path, 'utf8');
      return { contents: packText(path, code, /String\.raw`([^`]*)`/, (text) => text), loader: 'ts' };
    }),
};

/** Only the briefing of an agent reads it. */
export const packedCommonWords = {
  name: 'packed-common-words',
  setup: (bundler) =>
    bundler.onLoad({ filter: /\/domains\/brief\/common-words\.ts$/ }, ({ path }) => {
      const code = readFileSync(path, 'utf8');
      return { contents: packText(path, code, /`([^`]*)`/, (text) => text.replaceAll(/\s+/g, ' ')), loader: 'ts' };
    }),
};

/** Replaces the first such text by an expression that unpacks it, and loads the library for that, where it is read. */
function packText(path, code, pattern, shorten) {
  const [literal, text] = pattern.exec(code) ?? [];
  if (text === undefined) throw new Error(`${path} has no such text`);
  const packed = brotliCompressSync(shorten(text)).toString('base64');
  const unpacked = `require('node:zlib').brotliDecompressSync(Buffer.from('${packed}', 'base64')).toString()`;
  return code.replace(literal, () => unpacked);
}
