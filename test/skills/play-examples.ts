import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import { openProgram } from '../init/init-project.ts';
import { createAgent } from '../support/agent.ts';
import { ledgerIn, tamper } from '../support/ledger.ts';

/** A call that a text shows, with what the text says about the response. */
interface Example {
  /** The caller; undefined: the agent that reads the text. */
  readonly agent?: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The code that the text announces; undefined: the call succeeds. */
  readonly refusal: string | undefined;
  /** The part of the data, or of the facts of the refusal, that the text shows. */
  readonly shown: unknown;
}

/** An agent makes no call for some hours. */
interface Silence {
  readonly silentAgent: string;
  readonly hours: number;
}

const TIME = /^\d{4}-\d\d-\d\dT.*Z$/;
const READER = 'parser-agent';
const BLOCK = /```json\n(?<json>[\s\S]+?)\n```\n(?:\n(?:Refused: `(?<refusal>\w+)`|Answer:)(?: `(?<shown>\{.+\})`)?)?/;
const SILENCE = /`(?<agent>[\w-]+)` is silent for (?<hours>\d+) hours/;
const STEP = new RegExp(`${BLOCK.source}|${SILENCE.source.replace('agent', 'silent')}`, 'g');

export function examplesIn(text: string): Example[] {
  return stepsIn(text).filter((step) => 'tool' in step);
}

function stepsIn(text: string): (Example | Silence)[] {
  return [...text.matchAll(STEP)].map(({ groups = {} }) => {
    const { json, refusal, shown, silent, hours } = groups;
    if (silent !== undefined) return { silentAgent: silent, hours: Number(hours) };
    const example = JSON.parse(json ?? '') as Omit<Example, 'refusal' | 'shown'>;
    return { ...example, refusal, shown: shown === undefined ? undefined : (JSON.parse(shown) as unknown) };
  });
}

/** Plays the examples of texts in order on one ledger, each agent through a server of its own. */
export class ExamplePlayer {
  readonly #folder: string;
  readonly #clients = new Map<string, Client>();
  /** From the tokens that the text shows to those of this ledger. */
  readonly #tokens = new Map<unknown, unknown>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async play(text: string): Promise<void> {
    for (const step of stepsIn(text)) await ('tool' in step ? this.#call(step) : this.#silence(step));
  }

  async close(): Promise<void> {
    for (const client of this.#clients.values()) await client.close();
  }

  async #call(example: Example): Promise<void> {
    const { agent = READER, tool, arguments: args, shown } = example;
    const client = this.#clients.get(agent) ?? (await this.#open(agent));
    const input = 'claim' in args ? { ...args, claim: this.#tokens.get(args['claim']) } : args;
    const { data, failure } = await createAgent(client).call(tool, input);
    expect({ ...example, refusal: failure?.facts['code'] ?? failure?.code }).toEqual(example);
    if (shown !== undefined) this.#compare(shown, failure?.facts ?? data);
  }

  async #open(agent: string): Promise<Client> {
    const { client } = await openProgram(this.#folder, { COLIBRI_AGENT_ID: agent });
    this.#clients.set(agent, client);
    return client;
  }

  /** A shown object is a part of the real one. A time stands for any time, a token for one that stays the same. */
  #compare(shown: unknown, got: unknown): void {
    if (typeof shown === 'number') {
      if (!this.#tokens.has(shown)) this.#tokens.set(shown, got);
      expect(got).toBe(this.#tokens.get(shown));
    } else if (typeof shown === 'string' && TIME.test(shown)) expect(got).toMatch(TIME);
    else if (typeof shown !== 'object' || shown === null) expect(got).toBe(shown);
    else {
      if (Array.isArray(shown)) expect(got).toHaveLength(shown.length);
      for (const [key, value] of Object.entries(shown)) this.#compare(value, (got as Record<string, unknown>)[key]);
    }
  }

  async #silence({ silentAgent, hours }: Silence): Promise<void> {
    const changed = `UPDATE presence SET clock_ms = clock_ms - ${hours * 3_600_000} WHERE actor = '${silentAgent}'`;
    await tamper(ledgerIn(this.#folder), changed);
  }
}
