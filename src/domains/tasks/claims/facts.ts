import type { Reader } from '../../../db/database.ts';
import { parseId } from '../../../ids.ts';
import { parseEntry } from '../../../integrity/index.ts';
import { canContinue } from '../../../ledger/presence/signs.ts';
import type { TokenedTask } from '../record.ts';
import { type ClaimContext, readHolder } from './holder.ts';
import { lossesOf } from './losses.ts';
import type { ClaimEvent, ClaimFacts, ClaimRequest } from './rules.ts';

/** Reads what decides about a request, in the transaction of the change. Most changes need nothing. */
export async function readClaimFacts(
  db: Reader,
  { task, token }: TokenedTask,
  request: ClaimRequest,
  context: ClaimContext,
): Promise<ClaimFacts> {
  const { at, ttlMs } = context;
  const { actor, isGuarded } = request;
  const isStale = request.token !== undefined && request.token !== token;
  const isHeldByOther = isGuarded && task.holder !== null && task.holder !== actor;
  const isTaken = task.taken_from !== null && task.holder !== actor && (isGuarded || isStale);
  const loss = isTaken ? (await lossesOf(db, parseId(task.task_id))).get(actor) : undefined;
  const latest = isStale || isHeldByOther ? await findClaim(db, token) : undefined;
  if (!isHeldByOther) return { token, latest, loss, ttlMs, holder: undefined, nowMs: Date.parse(at) };
  const holder = await readHolder(db, task.holder ?? '', context);
  const isSuccessor = await succeeds(db, context, request, task.holder ?? '');
  return { token, latest, loss, ttlMs, holder, isSuccessor, nowMs: holder.nowMs };
}

/** An agent that works on something else was not started to continue what the holder did. */
async function succeeds(
  db: Reader,
  { liveness }: ClaimContext,
  { actor, firstCall }: ClaimRequest,
  holder: string,
): Promise<boolean> {
  return (await canContinue(db, liveness, { actor, firstCall }, holder)) && !(await isBusy(db, actor, holder));
}

/** Whether an actor holds a task that it did not take from this former holder. */
export async function isBusy(db: Reader, actor: string, former: string): Promise<boolean> {
  const others = await db.query(
    'SELECT task_no FROM tasks WHERE holder = $1 AND (taken_from IS NULL OR taken_from <> $2) LIMIT 1',
    [actor, former],
  );
  return others.length > 0;
}

async function findClaim(db: Reader, token: number | null): Promise<ClaimEvent | undefined> {
  if (token === null) return undefined;
  const [row] = await db.query<{ entry: string }>('SELECT entry FROM ledger_entries WHERE idx = $1', [token]);
  const entry = parseEntry(row?.entry ?? '');
  return entry && { by: entry.actor, at: entry.at, token };
}
