import type { TOKEN_COUNTS } from '../../integrity/index.ts';
import type { Payload } from '../clients/fields.ts';

export type TokenCounts = Readonly<Record<(typeof TOKEN_COUNTS)[number], number>>;

/** What a line of a transcript tells. `response` names the answer of the model that asked for the call. */
export type Fact =
  | {
      readonly kind: 'call';
      readonly id: string;
      readonly tool: string;
      readonly input?: unknown;
      readonly response: string;
    }
  | { readonly kind: 'result'; readonly id: string; readonly isRefused: boolean }
  | { readonly kind: 'usage'; readonly response: string; readonly model: string; readonly tokens: TokenCounts };

/** Reads the lines of one transcript in their order. */
export type LineReader = (line: Payload) => readonly Fact[];

/** How one client writes its transcripts. */
export interface TranscriptFormat {
  /** A line that contains none of these texts tells nothing about calls and tokens, and is not parsed. */
  readonly marks: readonly string[];
  /** Whether the hooks of the client report the ids that its transcript has. */
  readonly hasCallIds: boolean;
  /** Whether the client keeps lines for up to a second before it writes them. */
  readonly isBuffered: boolean;
  readonly open: () => LineReader;
}

export interface TranscriptCall {
  readonly id: string;
  readonly tool: string;
  /** The input as the hook reports it; undefined if calls are compared by their ids. */
  readonly input: unknown;
  readonly isFinished: boolean;
  /** The client did not run it: the user or the client refused. */
  readonly isRefused: boolean;
}

export interface ModelResponse {
  readonly model: string;
  readonly tokens: TokenCounts;
  /** The calls that it asked for. */
  readonly calls: readonly string[];
}

export interface Transcript {
  /** In the order in which they began. */
  readonly calls: readonly TranscriptCall[];
  readonly responses: readonly ModelResponse[];
  /** Why it was not read, or not as a whole. */
  readonly defect: string | null;
}

export const EMPTY = { calls: [], responses: [] } as const;

const MAX_CALLS = 200_000;

interface Response {
  model: string | undefined;
  tokens: TokenCounts | undefined;
  readonly calls: string[];
}

/** Joins what several lines tell about one call or response: clients repeat both, and the last line is right. */
export class TranscriptBuilder {
  readonly #calls = new Map<string, TranscriptCall>();
  readonly #responses = new Map<string, Response>();
  #hasMore = false;

  add(fact: Fact): void {
    if (fact.kind === 'call') this.#addCall(fact);
    else if (fact.kind === 'result') this.#addResult(fact);
    else Object.assign(this.#responseOf(fact.response), { model: fact.model, tokens: fact.tokens });
  }

  finish(defect: string | null): Transcript {
    const responses: ModelResponse[] = [];
    for (const { model, tokens, calls } of this.#responses.values())
      if (model !== undefined && tokens !== undefined) responses.push({ model, tokens, calls });
    const tooMany = this.#hasMore ? `has more than ${MAX_CALLS.toLocaleString('en')} calls` : null;
    // A client that stops has had an answer, so nothing means that the format is another.
    const isForeign = responses.length === 0 && this.#calls.size === 0;
    const unknown = isForeign ? 'has an unknown format' : null;
    return { calls: [...this.#calls.values()], responses, defect: defect ?? tooMany ?? unknown };
  }

  #addCall({ id, tool, input, response }: Extract<Fact, { kind: 'call' }>): void {
    if (this.#calls.has(id)) return;
    if (this.#calls.size >= MAX_CALLS) this.#hasMore = true;
    else {
      this.#calls.set(id, { id, tool, input, isFinished: false, isRefused: false });
      this.#responseOf(response).calls.push(id);
    }
  }

  #addResult({ id, isRefused }: Extract<Fact, { kind: 'result' }>): void {
    const call = this.#calls.get(id);
    if (call !== undefined) this.#calls.set(id, { ...call, isFinished: true, isRefused });
  }

  #responseOf(id: string): Response {
    const known = this.#responses.get(id) ?? { model: undefined, tokens: undefined, calls: [] };
    this.#responses.set(id, known);
    return known;
  }
}
