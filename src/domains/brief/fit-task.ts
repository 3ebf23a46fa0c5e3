import { cutToTokens, estimateTokens } from './tokens.ts';

/** The fields of a task that help most, first; the others follow as far as they fit. */
const FIRST_FIELDS = ['task_id', 'title', 'status', 'holder', 'assignee', 'blocked_reason', 'description'];
const TRAIL = 'thought_trail';
const TEXT_TOKENS = 80;
/** For the quotation marks and a few escapes. */
const JSON_TOKENS = 10;
const REST = { rest: 'cut: call task_get with include_thought_trail for all of it' };

/**
 * A task with its trail as JSON of at most `limit` tokens. One that does not fit names the call that returns it whole.
 */
export function fitTask(task: Readonly<Record<string, unknown>>, limit: number): string {
  const whole = JSON.stringify(task);
  if (fits(whole, limit)) return whole;
  const room = new Set([...FIRST_FIELDS, TRAIL, ...Object.keys(task)]);
  let fitted: Readonly<Record<string, unknown>> = REST;
  for (const field of room) {
    const value = task[field];
    if (value === undefined) continue;
    const longer = field === TRAIL ? addTrail(fitted, value, limit) : { ...fitted, [field]: cutText(value) };
    if (fits(JSON.stringify(longer), limit)) fitted = longer;
  }
  return JSON.stringify(fitted);
}

/** The newest thoughts that fit, in their order. */
function addTrail(
  fitted: Readonly<Record<string, unknown>>,
  trail: unknown,
  limit: number,
): Readonly<Record<string, unknown>> {
  let longest = fitted;
  const kept: unknown[] = [];
  for (const thought of Array.isArray(trail) ? trail.toReversed() : []) {
    kept.unshift(cutText(thought));
    const longer = { ...fitted, [TRAIL]: [...kept] };
    if (!fits(JSON.stringify(longer), limit)) break;
    longest = longer;
  }
  return longest;
}

/** Escapes in JSON can cost more than the text: the cut is repeated until it is short as JSON too. */
function cutText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  let [text, tokens] = [value, TEXT_TOKENS];
  while (!fits(JSON.stringify(text), TEXT_TOKENS + JSON_TOKENS) && tokens > 1) {
    text = cutToTokens(value, tokens);
    tokens = Math.floor(tokens / 2);
  }
  return text;
}

/** No token of an estimate has more characters. */
const MAX_TOKEN_LENGTH = 13;

function fits(json: string, limit: number): boolean {
  return json.length <= limit * MAX_TOKEN_LENGTH && estimateTokens(json) <= limit;
}
