import { integer } from '../clients/fields.ts';
import type { TokenCounts } from './transcript.ts';

/** More than any session uses; sums of it are numbers that JSON carries exactly. */
const MAX_TOKENS = 1_000_000_000_000;

/** A count as a client reports it: absent and nonsensical ones are 0. */
export function count(value: unknown, ...names: readonly string[]): number {
  return Math.min(Math.max(integer(value, ...names) ?? 0, 0), MAX_TOKENS);
}

/** For clients that count cached tokens as input too: each token is counted once. */
export function withoutCached(input: number, counts: Omit<TokenCounts, 'input_tokens'>): TokenCounts {
  const { cache_read_tokens, cache_write_tokens, cache_write_1h_tokens } = counts;
  const cached = cache_read_tokens + cache_write_tokens + cache_write_1h_tokens;
  return { ...counts, input_tokens: Math.max(0, input - cached) };
}
