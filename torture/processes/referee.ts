import type { Reader } from '../../src/db/database.ts';
import type { Asked, Journal } from './journal.ts';
import { type Call, type Found, readFound } from './read-ledger.ts';

export interface JudgeOptions {
  /** Whether a process held the write lock for longer than writers wait: then calls may be refused. */
  readonly mayRefuse: boolean;
}

/** Compares what was answered with what is in the ledger. */
export async function judge(db: Reader, journal: Journal, options: JudgeOptions): Promise<string[]> {
  const found = await readFound(db);
  const problems = found.open === 0 ? [] : [`${found.open} calls have no exit entry`];
  for (const asked of journal.asked) {
    problems.push(...checkChange(asked, found), ...checkCall(asked, found, options), ...checkReceipt(asked, found));
    const { outcome = 'ok' } = asked.answer ?? {};
    if (!options.mayRefuse && REFUSALS.test(outcome)) problems.push(`${name(asked)}: answered ${outcome}`);
  }
  return [...problems, ...checkTotals(journal, found, options)];
}

/** Codes that an honest call gets only if the ledger cannot be written. */
const REFUSALS = /^(?:AUDIT_|INTERNAL|TOOL_NOT_ADMITTED|INVALID_PARAMS|CANCELLED|ERR_INIT|protocol)/;

/** An answered change is there once; an unanswered one once or not at all; a refused one is not there. */
function checkChange(asked: Asked, { stored, statuses, seals }: Found): string[] {
  const { tool, marker, answer, target = '', status } = asked;
  if (tool === 'merkle_finalize') {
    const count = seals.get(target) ?? 0;
    return answer?.outcome === 'ok' && count !== 1 ? [`${name(asked)}: ${target} was sealed ${count} times`] : [];
  }
  if (!STORING.has(tool)) return [];
  const count = stored.get(marker) ?? 0;
  const allowed = answer === undefined || isInDoubt(answer.outcome) ? [0, 1] : answer.outcome === 'ok' ? [1] : [0];
  const problems: string[] = [];
  if (!allowed.includes(count))
    problems.push(`${name(asked)}: answered ${answer?.outcome ?? 'nothing'}, and is there ${count} times`);
  // The text and the status were changed by one call: both or neither.
  const written = statuses.get(marker);
  if (tool === 'task_update' && count === 1 && status !== undefined && written !== status)
    problems.push(`${name(asked)}: the text was stored with the status ${written} instead of ${status}`);
  return problems;
}

const STORING = new Set(['task_create', 'task_update', 'audit_session_start', 'thought_record', 'observe']);

/** The answer says itself that the change may have been made. A hook that gave up in the middle is another case. */
function isInDoubt(outcome: string): boolean {
  return outcome === 'AUDIT_EXIT_FAILED' || outcome === 'refused' || outcome === 'not recorded';
}

/** A call is recorded once, with the outcome that the client got. */
function checkCall(asked: Asked, { calls }: Found, { mayRefuse }: JudgeOptions): string[] {
  const { tool, marker, answer } = asked;
  if (!STORING.has(tool) || tool === 'observe') return [];
  const found = (calls.get(marker) ?? []).filter((call) => call.tool === tool);
  if (answer === undefined || REFUSALS.test(answer.outcome) || answer.outcome === 'refused')
    return found.length > 1 ? [`${name(asked)}: recorded ${found.length} times`] : [];
  if (found.length !== 1) return [`${name(asked)}: answered ${answer.outcome}, and recorded ${found.length} times`];
  const [call] = found as [Call];
  // PostgreSQL drops a client that stops in a transaction, and another server takes its process for dead. When the
  // process goes on, a rule of the tool may still refuse the call, and the client gets that error.
  const wasGivenUp = mayRefuse && asked.isDisturbed && answer.outcome !== 'ok' && call.outcome === 'interrupted';
  return wasGivenUp || call.outcome === answer.outcome
    ? []
    : [`${name(asked)}: answered ${answer.outcome}, recorded ${call.outcome}`];
}

function checkReceipt(asked: Asked, { leaves }: Found): string[] {
  const receipt = asked.answer?.receipt;
  if (receipt === undefined) return [];
  const leaf = leaves.get(receipt.index);
  if (leaf === undefined) return [`${name(asked)}: the log has no entry ${receipt.index}, which a receipt names`];
  const isSame = receipt.leaf === undefined || receipt.leaf === leaf;
  return isSame ? [] : [`${name(asked)}: entry ${receipt.index} is not the one that a receipt names`];
}

/** Calls without a marker are counted: all that were answered, and no more than were sent. */
function checkTotals(journal: Journal, { totals }: Found, { mayRefuse }: JudgeOptions): string[] {
  const sent = new Map<string, { asked: number; answered: number }>();
  for (const { lane, tool, answer, mayBeUnrecorded } of journal.asked) {
    if (lane.startsWith('client-')) continue;
    const key = `${lane.startsWith('person-') ? `person:${lane}` : lane} ${tool}`;
    const count = sent.get(key) ?? { asked: 0, answered: 0 };
    count.asked += 1;
    const isRecorded = answer !== undefined && !REFUSALS.test(answer.outcome) && answer.outcome !== 'refused';
    if (isRecorded && !mayBeUnrecorded) count.answered += 1;
    sent.set(key, count);
  }
  return [...sent].flatMap(([key, { asked, answered }]) => {
    const recorded = totals.get(key) ?? 0;
    // "colibri note" opens a session by a call of its own.
    const most = key.startsWith('person:') && key.endsWith('audit_session_start') ? Number.POSITIVE_INFINITY : asked;
    // These two answer even if their entries cannot be written now.
    const isCounted = !(mayRefuse && / server_(?:ping|health)$/.test(key));
    const isFine = recorded <= most && (recorded >= answered || !isCounted);
    return isFine ? [] : [`${key}: sent ${asked}, answered ${answered}, recorded ${recorded}`];
  });
}

function name({ tool, marker, target }: Asked): string {
  return `${marker} ${tool}${target ? ` ${target}` : ''}`;
}
