import type { Config } from '../../config.ts';
import type { Reader } from '../../db/database.ts';
import { readEvidence } from '../../domains/evidence/repository.ts';
import { createClaimReader } from '../../domains/tasks/claims/claim-view.ts';
import type { ClaimContext } from '../../domains/tasks/claims/holder.ts';
import type { TokenedTask } from '../../domains/tasks/record.ts';
import { findTokenedTask, listChildren, listUnmet, listWaiting } from '../../domains/tasks/repository.ts';
import { isOpen } from '../../domains/tasks/workflows.ts';
import { listThoughts, type ThoughtRow } from '../../domains/trail/repository.ts';
import { listTaskSessions } from '../../domains/trail/sessions.ts';
import { findCommitPage } from '../../git/commit-page.ts';
import { hasCommit } from '../../git/has-commit.ts';
import { parseId } from '../../ids.ts';
import { listTaskCommits } from '../../recorder/git/recorded-commits.ts';
import { listTaskCoverage } from '../../recorder/reports/list-reports.ts';
import { linkTo } from '../../terminal-text.ts';
import { readHistory } from '../../verification/task-history.ts';
import { verifyTaskChain } from '../../verification/verify-chain.ts';
import type { CliCommand } from '../support/command.ts';
import { JSON_OPTION, UTC_OPTION, WIDTH_OPTION } from '../support/options.ts';
import { print, printJson } from '../support/print.ts';
import { READ_EXIT_CODES, runReadCommand } from '../support/read-command.ts';
import { TASK_ARGUMENT, taskNotFound } from '../support/task-argument.ts';
import { withDatabase } from '../support/with-ledger.ts';
import { type LinkCommit, renderTask } from '../views/show.ts';
import { describeSession, describeThought, listCommits, type Shown, type ShownClaim } from '../views/show-data.ts';
import { canLink, findTerminal, timeFormat } from '../views/terminal.ts';

const MAX_CHILDREN = 100;
const MAX_WAITING = 500;
const PAGE = 500;
const TAMPERED = 4;

interface ShowOptions {
  readonly width?: number;
  readonly utc?: boolean;
  readonly json?: boolean;
}

export const show: CliCommand<ShowOptions, string> = {
  name: 'show',
  summary: 'show one task: its fields, decisions, sessions and history, and whether they verify',
  argument: TASK_ARGUMENT,
  options: [UTC_OPTION, WIDTH_OPTION, JSON_OPTION],
  examples: [['colibri show 42'], ['colibri show t-42 --json | jq .verdict']],
  exitCodes: {
    ...READ_EXIT_CODES,
    0: 'shown, and it verifies',
    1: 'no such task',
    4: 'shown, but it does not verify',
  },
  run: (options, taskId) =>
    runReadCommand('show', options.json ?? false, (config) => showTask(config, taskId, options)),
};

async function showTask(config: Config, taskId: string, { width, utc, json }: ShowOptions): Promise<number> {
  const shown = await withDatabase(config, (database) => {
    const context = { liveness: database, at: new Date().toISOString(), ttlMs: config.claimTtlMs };
    return database.read((reader) => readTask(reader, taskId, context));
  });
  if (json) printJson(shown);
  else {
    const linkCommit = await createCommitLinks(shown);
    print(renderTask(shown, findTerminal(width), { timeOf: timeFormat(utc), linkCommit }));
  }
  return shown.verdict === 'whole' ? 0 : TAMPERED;
}

/** Commits that the repository of this folder lacks have no page at its origin, either. */
async function createCommitLinks({ commits }: Shown): Promise<LinkCommit> {
  const withoutLink = () => String;
  if (commits.length === 0 || !canLink()) return withoutLink;
  const folder = process.cwd();
  const pageOf = await findCommitPage(folder);
  if (pageOf === undefined) return withoutLink;
  return (sha) => (hasCommit(folder, sha.toLowerCase()) === false ? String : linkTo(pageOf(sha)));
}

async function readTask(reader: Reader, taskId: string, context: ClaimContext): Promise<Shown> {
  const found = await findTokenedTask(reader, taskId);
  if (found === undefined) throw await taskNotFound(reader, taskId);
  const { task } = found;
  const taskNo = parseId(taskId);
  const chain = await verifyTaskChain(reader, taskNo, { withTrace: false, progress: () => undefined });
  const history = await readHistory(reader, task);
  const joined = [...new Set(history.events.flatMap(({ sessions }) => sessions))];
  const problems = [...chain.broken.map(({ record, problem }) => ({ record, problem })), ...history.problems];
  const thoughts = (await listAllThoughts(reader, taskId)).map(describeThought);
  return {
    task,
    claim: await readClaim(reader, found, context),
    waits_for: await listUnmet(reader, taskNo),
    awaited_by: isOpen(task.status) ? await listWaiting(reader, taskNo, MAX_WAITING) : [],
    children: (await listChildren(reader, taskNo, MAX_CHILDREN)).items,
    thoughts,
    commits: listCommits(thoughts, await listTaskCommits(reader, taskNo)),
    ...(await readShownEvidence(reader, taskNo)),
    sessions: (await listTaskSessions(reader, taskNo, joined)).map(describeSession),
    events: history.events,
    coverage: await listTaskCoverage(reader, taskNo),
    redacted: chain.redacted + history.redacted,
    verdict: problems.length === 0 ? 'whole' : 'tampered',
    problems,
  };
}

async function readShownEvidence(
  reader: Reader,
  taskNo: number,
): Promise<Pick<Shown, 'evidence' | 'evidence_total' | 'observations_total'>> {
  const { items, total, observations } = await readEvidence(reader, taskNo);
  return {
    evidence: items,
    ...(total > items.length ? { evidence_total: total } : {}),
    ...(observations === undefined ? {} : { observations_total: observations }),
  };
}

async function readClaim(
  reader: Reader,
  { task, token }: TokenedTask,
  context: ClaimContext,
): Promise<ShownClaim | null> {
  const claim = await createClaimReader(reader, context)(task);
  return claim === undefined ? null : { ...claim, claim: token, taken_from: task.taken_from };
}

async function listAllThoughts(reader: Reader, taskId: string): Promise<ThoughtRow[]> {
  const all: ThoughtRow[] = [];
  for (;;) {
    const page = { task_id: taskId, limit: PAGE, offset: all.length, verify_chain: false };
    const { rows } = await listThoughts(reader, page);
    all.push(...rows);
    if (rows.length < PAGE) return all;
  }
}
