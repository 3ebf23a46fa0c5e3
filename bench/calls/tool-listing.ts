import type { Client } from '@modelcontextprotocol/client';
import { countTokens } from 'gpt-tokenizer';

export interface ToolListingSizes {
  readonly tools: number;
  /** Bytes of the tools/list result. */
  readonly bytes: number;
  /** Tokens of what a client passes to its model: name, description and input schema. */
  readonly tokens: number;
  readonly tokensOfTool: Readonly<Record<string, number>>;
}

export async function measureToolListing(client: Client): Promise<ToolListingSizes> {
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
