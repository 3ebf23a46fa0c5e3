import { type Config, describeLocation } from '../../config.ts';
import { EXIT, Refusal } from './command-result.ts';

/** The commands of docs/postgres.md. The URL stands in a variable, so that nobody prints the password in it. */
const INSTEAD = {
  backup: [
    'pg_dump --no-owner --no-privileges --file=ledger.sql "$COLIBRI_DATABASE_URL"',
    'colibri copy --to ledger.db',
  ],
  restore: [
    'psql --set=ON_ERROR_STOP=1 --single-transaction --file=ledger.sql "$COLIBRI_DATABASE_URL"',
    'COLIBRI_DATABASE_URL= COLIBRI_DB_PATH=ledger.db colibri copy --to "$COLIBRI_DATABASE_URL"',
  ],
} as const;

const WHERE = {
  backup: '',
  restore: ', into a new and empty database, and then colibri verify',
} as const;

/** A ledger in PostgreSQL is not one file: its own tools, or a copy that is a file, take the place of these commands. */
export function assertIsFile(command: keyof typeof INSTEAD, config: Config): void {
  if (config.databaseUrl === undefined) return;
  const [own, copy] = INSTEAD[command];
  const message = `the ledger is in ${describeLocation(config)}, and ${command} is for files; use the tools of PostgreSQL${WHERE[command]}:`;
  const more = [
    `  ${own}`,
    'or copy the ledger between PostgreSQL and a file, checked on both sides:',
    `  ${copy}`,
    'docs/postgres.md says more',
  ];
  throw new Refusal(EXIT.badInput, 'bad input', message, { commands: [own, copy] }, more);
}
