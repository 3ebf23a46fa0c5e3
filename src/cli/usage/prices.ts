import type { TokenCounts } from '../../recorder/transcripts/transcript.ts';

/** US dollars for a million tokens. A count without a price makes the cost unknown. */
interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite?: number;
  readonly cacheWrite1h?: number;
}

/** List prices without discounts, and without the higher rates of some models for long prompts. */
export const PRICES = {
  date: '2026-08-08',
  source: 'model_prices_and_context_window.json of github.com/BerriAI/litellm at b0fd3e1e',
  currency: 'USD',
} as const;

/** Anthropic derives all prices of a model from that of its input. */
const claude = (input: number): Price => ({
  input,
  output: input * 5,
  cacheRead: input / 10,
  cacheWrite: input * 1.25,
  cacheWrite1h: input * 2,
});
const other = (input: number, output: number, cacheRead = input / 10): Price => ({ input, output, cacheRead });

const BY_MODEL: Readonly<Record<string, Price>> = {
  'claude-fable-5': claude(10),
  'claude-haiku-4-5': claude(1),
  'claude-opus-4': claude(15),
  'claude-opus-4-1': claude(15),
  'claude-opus-4-5': claude(5),
  'claude-opus-4-6': claude(5),
  'claude-opus-4-7': claude(5),
  'claude-opus-4-8': claude(5),
  'claude-opus-5': claude(5),
  'claude-sonnet-4': claude(3),
  'claude-sonnet-4-5': claude(3),
  'claude-sonnet-4-6': claude(3),
  'claude-sonnet-5': claude(2),
  'gemini-2.5-flash': other(0.3, 2.5),
  'gemini-2.5-flash-lite': other(0.1, 0.4),
  'gemini-2.5-pro': other(1.25, 10),
  'gemini-3-flash-preview': other(0.5, 3),
  'gemini-3-pro-preview': other(2, 12),
  'gemini-3.1-pro-preview': other(2, 12),
  'gemini-3.5-flash': other(1.5, 9),
  'gemini-3.6-flash': other(1.5, 7.5),
  'gpt-5': other(1.25, 10),
  'gpt-5-codex': other(1.25, 10),
  'gpt-5-mini': other(0.25, 2),
  'gpt-5.1': other(1.25, 10),
  'gpt-5.1-codex': other(1.25, 10),
  'gpt-5.1-codex-max': other(1.25, 10),
  'gpt-5.1-codex-mini': other(0.25, 2),
  'gpt-5.2': other(1.75, 14),
  'gpt-5.2-codex': other(1.75, 14),
  'gpt-5.3-codex': other(1.75, 14),
  'gpt-5.4': other(2.5, 15),
  'gpt-5.4-mini': other(0.75, 4.5),
  'gpt-5.5': other(5, 30),
  'gpt-5.6': { ...other(5, 30), cacheWrite: 6.25 },
};

const MILLION = 1_000_000;
/** Clients name a version of a model by its date. */
const DATED = /-(?:20\d{6}|20\d{2}-\d{2}-\d{2})$/;

/** Undefined if the price of the model, or of one of these counts, is not known. */
export function findCost(model: string, tokens: TokenCounts): number | undefined {
  const name = model.replace(DATED, '');
  const price = Object.hasOwn(BY_MODEL, name) ? BY_MODEL[name] : undefined;
  if (price === undefined) return undefined;
  const parts: readonly (readonly [tokens: number, price: number | undefined])[] = [
    [tokens.input_tokens, price.input],
    [tokens.output_tokens, price.output],
    [tokens.cache_read_tokens, price.cacheRead],
    [tokens.cache_write_tokens, price.cacheWrite],
    [tokens.cache_write_1h_tokens, price.cacheWrite1h],
  ];
  if (parts.some(([count, each]) => count > 0 && each === undefined)) return undefined;
  return parts.reduce((sum, [count, each = 0]) => sum + (count * each) / MILLION, 0);
}
