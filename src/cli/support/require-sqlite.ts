import { type Config, describeLocation } from '../../config.ts';
import { CommandError } from './command-result.ts';

/** The commands of docs/postgres.md. They name the variable, so that the password in the URL is not printed. */
const ALTERNATIVES = {
  backup: [
    'pg_dump --no-owner --no-privileges --file=ledger.sql "$COLIBRI_DATABASE_URL"',
    'colibri copy --to ledger.db',
  ],
  restore: [
    'psql --set=ON_ERROR_STOP=1 --single-transaction --file=ledger.sql "$COLIBRI_DATABASE_URL"',
    'COLIBRI_DATABASE_URL= COLIBRI_DB_PATH=ledger.db colibri copy --to "$COLIBRI_DATABASE_URL"',
  ],
} as const;

const CONDITIONS = {
  backup: '',
  restore: ' on a new and empty database, then run colibri verify',
} as const;

/** Refuses a ledger in PostgreSQL, and names the commands to use instead. */
export function assertSqliteLedger(command: keyof typeof ALTERNATIVES, config: Config): void {
  if (config.databaseUrl === undefined) return;
  const [own, copy] = ALTERNATIVES[command];
  const problem = `the ledger is in ${describeLocation(config)}, and colibri ${command} works on SQLite files only`;
  throw new CommandError('bad input', problem, {
    advice: `use the tools of PostgreSQL${CONDITIONS[command]}:`,
    facts: { commands: [own, copy] },
    more: [
      `  ${own}`,
      'or copy the ledger between PostgreSQL and a file, verified on both sides:',
      `  ${copy}`,
      'See docs/postgres.md.',
    ],
  });
}
