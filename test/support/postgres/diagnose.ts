import { tempFolder } from '../temp-folder.ts';
import { runColibri } from '../trail-command.ts';

interface Finding {
  readonly check: string;
  readonly status: string;
  readonly message: string;
  readonly fix?: string;
}

/** Runs `colibri doctor --json` on a ledger in PostgreSQL. */
export async function diagnose(url: string, env: Record<string, string> = {}) {
  const variables = { COLIBRI_DATABASE_URL: url, ...env };
  const { status, stdout, stderr } = await runColibri(['doctor', '--json'], variables, tempFolder());
  const { checks } = JSON.parse(stdout) as { checks: Finding[] };
  return { status, stderr, checks, find: (name: string) => checks.find(({ check }) => check === name) };
}
