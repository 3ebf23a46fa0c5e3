import { statSync } from 'node:fs';
import type { Reader } from '../../db/database.ts';
import { assertMigrated } from '../../db/migrate.ts';
import { checkSchema } from '../../db/schema/check.ts';
import { parseEntry } from '../../integrity/index.ts';
import type { LedgerIdentity } from '../../trust/acceptance.ts';
import { readIdentity } from '../../trust/ledger-identity.ts';
import { withUntouchedFile } from '../../trust/untouched-ledger.ts';
import type { Problem } from '../../verification/report.ts';
import { verifyEverything } from '../../verification/verify-ledger.ts';
import { plural, shortTime } from '../views/terminal.ts';
import { printable } from '../views/text-width.ts';
import { EXIT, Refusal } from './command-result.ts';
import { createProgressBar } from './progress-bar.ts';
import { namesOf } from './read-command.ts';
import { attentive } from './yielding-reader.ts';

/** What a ledger that nobody trusts yet holds. */
export interface ExaminedLedger {
  readonly identity: LedgerIdentity;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly contents: Contents;
}

interface Contents {
  readonly bytes: number;
  readonly tasks: number;
  readonly thoughts: number;
  readonly sessions: number;
  readonly agents: readonly string[];
  readonly first: string;
  readonly last: string;
}

/** Reads and verifies a ledger without leaving a trace beside it; refuses one that was tampered with. */
export function examineLedger(path: string): Promise<ExaminedLedger> {
  return withUntouchedFile(path, async (database) => {
    await database.read((reader) => assertSchema(reader, path));
    await assertMigrated(database);
    return database.read(async (reader) => {
      await assertWhole(reader, path);
      const identity = await readIdentity(reader);
      if (identity === undefined)
        throw tampered(path, [{ place: 'entry 0', problem: 'does not say which ledger it is' }]);
      const contents = await readContents(reader, identity.size, statSync(path).size);
      const { ledgerId, size, root } = identity;
      return { identity, contents, facts: { ledger_id: ledgerId, size, root, ...contents } };
    });
  });
}

/** For people to read, one line each; data is escaped. */
export function describeContents({ identity, contents }: ExaminedLedger): string[] {
  const { bytes, tasks, thoughts, sessions, agents, first, last } = contents;
  const { ledgerId, size, root } = identity;
  return [
    `ledger    ${printable(ledgerId)}, ${plural(bytes, 'byte')}`,
    `holds     ${plural(tasks, 'task')}, ${plural(thoughts, 'thought')}, ${plural(sessions, 'session')}`,
    `agents    ${agents.length === 0 ? 'none' : namesOf(agents)}`,
    `written   ${shortTime(printable(first))} to ${shortTime(printable(last))}`,
    `verified  whole: ${size} ${size === 1 ? 'entry' : 'entries'}, root ${root}`,
  ];
}

/** First of all: a view that never ends, or a table that is a view, would be read by everything that follows. */
async function assertSchema(reader: Reader, path: string): Promise<void> {
  const { isLedger, differences } = await checkSchema(reader);
  if (isLedger && differences.length > 0)
    throw tampered(
      path,
      differences.map(({ place, problem }) => ({ place, problem })),
    );
}

async function assertWhole(reader: Reader, path: string): Promise<void> {
  const bar = createProgressBar('verifying');
  const { problems } = await verifyEverything(attentive(reader), bar.update).finally(bar.end);
  if (problems.length > 0) throw tampered(path, problems);
}

function tampered(path: string, problems: readonly Problem[]): Refusal {
  const [first] = problems;
  const place = printable(`${first?.place} ${first?.problem}`);
  const message = `${path} is tampered with and is not accepted: ${problems.length} problem(s), the first: ${place}; ask whoever gave it to you, or delete it to begin a new ledger`;
  return new Refusal(EXIT.refused, 'tampered', message, { file: path, problems });
}

async function readContents(reader: Reader, size: number, bytes: number): Promise<Contents> {
  const [counts] = await reader.query<{ tasks: number; thoughts: number; sessions: number }>(
    `SELECT (SELECT COUNT(*) FROM tasks) AS tasks, (SELECT COUNT(*) FROM thoughts) AS thoughts,
            (SELECT COUNT(*) FROM sessions) AS sessions`,
  );
  const actors = await reader.query<{ actor: string }>('SELECT DISTINCT actor FROM calls ORDER BY actor');
  const { tasks = 0, thoughts = 0, sessions = 0 } = counts ?? {};
  return {
    bytes,
    tasks,
    thoughts,
    sessions,
    agents: actors.map(({ actor }) => actor),
    first: await timeOf(reader, 0),
    last: await timeOf(reader, size - 1),
  };
}

async function timeOf(reader: Reader, index: number): Promise<string> {
  const [row] = await reader.query<{ entry: string }>('SELECT entry FROM ledger_entries WHERE idx = $1', [index]);
  return (row === undefined ? undefined : parseEntry(row.entry)?.at) ?? 'unknown';
}
