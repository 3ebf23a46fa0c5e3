import { TOKEN_COUNTS } from '../../integrity/index.ts';
import { cleanIdentifier } from '../spooled-event.ts';
import type { Transcript } from '../transcripts/transcript.ts';
import type { RecordedCalls } from './recorded-calls.ts';

const COUNTS = ['responses', ...TOKEN_COUNTS] as const;

export type UsageCounts = Readonly<Record<(typeof COUNTS)[number], number>>;

/** What a session used for one task with one model. */
export interface Usage extends UsageCounts {
  readonly taskId: string | null;
  readonly model: string;
}

/**
 * A response belongs to the task of the first recorded call that it asked for. One without such a call belongs to the
 * task that was held after the recorded call before it.
 */
export function measureUsage({ responses }: Transcript, recorded: RecordedCalls): Usage[] {
  const totals = new Map<string, Usage>();
  let held: string | null = null;
  for (const { model, tokens, calls } of responses) {
    const known = calls.map((id) => recorded.get(id)).filter((call) => call !== undefined);
    const taskId = known.length === 0 ? held : (known[0]?.taskId ?? null);
    held = known.length === 0 ? held : (known.at(-1)?.heldTask ?? null);
    addTo(totals, { taskId, model: cleanIdentifier(model), responses: 1, ...tokens });
  }
  return [...totals.values()];
}

/**
 * What is new since the reports before. A response that is now seen under another task is not counted again: no more is
 * added for a model than its total has grown.
 */
export function subtractReported(totals: readonly Usage[], reported: readonly Usage[]): Usage[] {
  const known = sumUsage(reported);
  const left = new Map<string, Record<string, number>>();
  for (const [model, total] of byModel(totals)) {
    const before = byModel(reported).get(model);
    left.set(
      model,
      mapCounts((name) => Math.max(0, total[name] - (before?.[name] ?? 0))),
    );
  }
  return totals.flatMap((total) => {
    const rest = left.get(total.model) as Record<string, number>;
    const before = known.find((usage) => keyOf(usage) === keyOf(total));
    const added = mapCounts((name) => {
      const grown = Math.min(Math.max(0, total[name] - (before?.[name] ?? 0)), rest[name] ?? 0);
      rest[name] = (rest[name] ?? 0) - grown;
      return grown;
    });
    const isNew = COUNTS.some((name) => added[name] > 0);
    return isNew ? [{ taskId: total.taskId, model: total.model, ...added }] : [];
  });
}

/** One sum for each task and model. */
export function sumUsage(usages: readonly Usage[]): Usage[] {
  const totals = new Map<string, Usage>();
  for (const usage of usages) addTo(totals, usage);
  return [...totals.values()];
}

function addTo(totals: Map<string, Usage>, usage: Usage): void {
  const key = keyOf(usage);
  const { taskId, model } = usage;
  totals.set(key, { taskId, model, ...addCounts(totals.get(key), usage) });
}

function keyOf({ taskId, model }: Usage): string {
  return JSON.stringify([taskId, model]);
}

function byModel(usages: readonly Usage[]): Map<string, UsageCounts> {
  const totals = new Map<string, UsageCounts>();
  for (const usage of usages) totals.set(usage.model, addCounts(totals.get(usage.model), usage));
  return totals;
}

export function addCounts(total: UsageCounts | undefined, more: UsageCounts): UsageCounts {
  return mapCounts((name) => Math.min((total?.[name] ?? 0) + more[name], Number.MAX_SAFE_INTEGER));
}

function mapCounts(value: (name: keyof UsageCounts) => number): UsageCounts {
  return Object.fromEntries(COUNTS.map((name) => [name, value(name)])) as unknown as UsageCounts;
}
