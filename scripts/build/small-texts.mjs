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
      const [, text] = /String\.raw`([^`]*)`/.exec(readFileSync(path, 'utf8')) ?? [];
      if (text === undefined) throw new Error(`${path} has no schema`);
      return { contents: `${unpacking('schema', text)}\nexport const POSTGRES_SCHEMA = schema;` };
    }),
};

/** Only the briefing of an agent reads it. */
export const packedCommonWords = {
  name: 'packed-common-words',
  setup: (bundler) =>
    bundler.onLoad({ filter: /\/domains\/brief\/common-words\.ts$/ }, ({ path }) => {
      const [, text] = /`([^`]*)`/.exec(readFileSync(path, 'utf8')) ?? [];
      if (text === undefined) throw new Error(`${path} has no words`);
      return {
        contents: `${unpacking('words', text.trim().split(/\s+/).join(' '))}
          export const COMMON_WORDS = new Set(words.split(' '));`,
      };
    }),
};

/** Code that has the text in a constant. */
function unpacking(name, text) {
  const packed = brotliCompressSync(text).toString('base64');
  return `import { brotliDecompressSync } from 'node:zlib';
    const ${name} = brotliDecompressSync(Buffer.from('${packed}', 'base64')).toString();`;
}
