import { statSync } from 'node:fs';
import type { Reader } from '../../db/database.ts';
import { assertMigrated } from '../../db/migrate.ts';
import { checkSchema } from '../../db/schema/check.ts';
import type { LedgerIdentity } from '../../trust/acceptance.ts';
import { readIdentity } from '../../trust/ledger-identity.ts';
import { withUntouchedFile } from '../../trust/untouched-ledger.ts';
import type { Problem } from '../../verification/report.ts';
import { verifyEverything } from '../../verification/verify-ledger.ts';
import { findEntry } from '../query/log-entries.ts';
import { describeProblems, describeWhole } from '../views/problems.ts';
import { listNames, plural, shortTime } from '../views/terminal.ts';
import { printable } from '../views/text-width.ts';
import { CommandError } from './command-result.ts';
import { withProgress } from './progress-bar.ts';
import { createYieldingReader } from './yielding-reader.ts';

/** The contents of a ledger that has not been accepted yet. */
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

/** Reads and verifies a ledger without creating files beside it; refuses one that was tampered with. */
export function examineLedger(path: string): Promise<ExaminedLedger> {
  return withUntouchedFile(path, async (database) => {
    await database.read((reader) => assertSchema(reader, path));
    await assertMigrated(database);
    return database.read(async (reader) => {
      await assertWhole(reader, path);
      const identity = await readIdentity(reader);
      if (identity === undefined)
        throw tampered(path, [{ place: 'entry 0', problem: 'does not contain the id of the ledger' }]);
      const contents = await readContents(reader, identity.size, statSync(path).size);
      const { ledgerId, size, root } = identity;
      return { identity, contents, facts: { ledger_id: ledgerId, size, root, ...contents } };
    });
  });
}

/** One line per fact; data is escaped. */
export function describeContents({ identity, contents }: ExaminedLedger): string[] {
  const { bytes, tasks, thoughts, sessions, agents, first, last } = contents;
  const { ledgerId, size, root } = identity;
  return [
    `ledger    ${printable(ledgerId)}, ${plural(bytes, 'byte')}`,
    `holds     ${plural(tasks, 'task')}, ${plural(thoughts, 'thought')}, ${plural(sessions, 'session')}`,
    `agents    ${agents.length === 0 ? 'none' : listNames(agents)}`,
    `written   ${shortTime(printable(first))} to ${shortTime(printable(last))}`,
    `verified  ${describeWhole(size, root)}`,
  ];
}

/** Comes first: every later query could otherwise read a view that never ends. */
async function assertSchema(reader: Reader, path: string): Promise<void> {
  const { isLedger, differences } = await checkSchema(reader);
  if (isLedger && differences.length > 0)
    throw tampered(
      path,
      differences.map(({ place, problem }) => ({ place, problem })),
    );
}

async function assertWhole(reader: Reader, path: string): Promise<void> {
  const { problems } = await withProgress('verifying', (update) =>
    verifyEverything(createYieldingReader(reader), update),
  );
  if (problems.length > 0) throw tampered(path, problems);
}

function tampered(path: string, problems: readonly Problem[]): CommandError {
  const problem = `${path} was tampered with and is not accepted: ${printable(describeProblems(problems))}`;
  return new CommandError('tampered', problem, {
    advice: 'ask the person who gave it to you, or delete it to start a new ledger',
    facts: { file: path, problems },
  });
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
  return (await findEntry(reader, index))?.at ?? 'unknown';
}
