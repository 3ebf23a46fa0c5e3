import type { Client } from '@modelcontextprotocol/client';
import { countTokens } from 'gpt-tokenizer';

export interface DefinitionSizes {
  readonly tools: number;
  /** Of the whole answer to tools/list. */
  readonly bytes: number;
  /** Of what a client hands to its model: name, description and input schema. */
  readonly tokens: number;
  readonly tokensOfTool: Readonly<Record<string, number>>;
}

export async function measureDefinitions(client: Client): Promise<DefinitionSizes> {
  const answer = await client.listTools();
  const tokensOfTool = Object.fromEntries(
    answer.tools.map(({ name, description, inputSchema }) => [
      name,
      countTokens(JSON.stringify({ name, description, inputSchema })),
    ]),
  );
  return {
    tools: answer.tools.length,
    bytes: Buffer.byteLength(JSON.stringify(answer)),
    tokens: Object.values(tokensOfTool).reduce((sum, tokens) => sum + tokens, 0),
    tokensOfTool,
  };
}
