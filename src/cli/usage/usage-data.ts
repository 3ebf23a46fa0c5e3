import type { Reader } from '../../db/database.ts';
import { listUsage } from '../../recorder/reports/list-reports.ts';
import { sumUsage, type UsageCounts } from '../../recorder/reports/usage.ts';
import { findCost, PRICES } from './prices.ts';

/** What one task used with one model, as `colibri agents --usage --json` prints it. */
export interface TaskUsage extends UsageCounts {
  /** Null for work that no task was held for. */
  readonly task_id: string | null;
  readonly model: string;
  /** Null if the price of the model is not known. */
  readonly cost_usd: number | null;
}

export interface UsageData {
  readonly usage: readonly TaskUsage[];
  readonly prices: typeof PRICES;
}

/** Sorted by task, then by model; what belongs to no task comes last. */
export async function readUsage(reader: Reader): Promise<UsageData> {
  const usage = sumUsage(await listUsage(reader)).map(({ taskId, model, ...counts }) => ({
    task_id: taskId,
    model,
    ...counts,
    cost_usd: round(findCost(model, counts)),
  }));
  return { usage: usage.toSorted(byTask), prices: PRICES };
}

/** Ids have at least four digits, so the shorter one of two is the earlier task. */
function byTask(one: TaskUsage, other: TaskUsage): number {
  if (one.task_id === other.task_id) return one.model < other.model ? -1 : 1;
  if (one.task_id === null || other.task_id === null) return one.task_id === null ? 1 : -1;
  return one.task_id.length - other.task_id.length || (one.task_id < other.task_id ? -1 : 1);
}

function round(cost: number | undefined): number | null {
  return cost === undefined ? null : Number(cost.toFixed(6));
}
