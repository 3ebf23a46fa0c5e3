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
      const packed = brotliCompressSync(text).toString('base64');
      return {
        contents: `import { brotliDecompressSync } from 'node:zlib';
          export const POSTGRES_SCHEMA = brotliDecompressSync(Buffer.from('${packed}', 'base64')).toString();`,
      };
    }),
};
