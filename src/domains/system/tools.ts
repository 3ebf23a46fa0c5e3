import type { Database } from '../../db/database.ts';
import { defineTool, type Tool } from '../../tool.ts';
import { describeHealth, type Pulse, type ServerFacts } from './health.ts';
import { readLedgerFacts } from './repository.ts';
import { healthOutput, noInput, pingOutput } from './schema.ts';

export interface SystemPorts {
  readonly pulse: () => Pulse;
  readonly facts: () => ServerFacts;
  readonly database: () => Database | undefined;
}

/** The backup of an earlier ledger beside one that is new and empty. */
export type FindEarlierBackup = (database: Database) => Promise<string | undefined>;

export function createSystemTools(
  { pulse, facts, database }: SystemPorts,
  findEarlierBackup: FindEarlierBackup,
): Tool[] {
  return [
    defineTool({
      name: 'server_ping',
      title: 'Ping',
      description: 'Check that the server is alive. Does not touch the ledger.',
      inputSchema: noInput,
      outputSchema: pingOutput,
      access: 'none',
      idempotent: true,
      early: true,
      answersUnrecorded: true,
      handle: (_input, { at, unrecorded }) => {
        const { version, mode, uptimeMs } = pulse();
        const notice = unrecorded === undefined ? {} : { recorded: false };
        return { version, mode, uptime_ms: uptimeMs, timestamp: at, ...notice };
      },
    }),
    defineTool({
      name: 'server_health',
      title: 'Health',
      description:
        'Check the ledger. Call when another tool fails: reports what is wrong, and the size and root of the ledger.',
      inputSchema: noInput,
      outputSchema: healthOutput,
      access: 'none',
      idempotent: true,
      answersUnrecorded: true,
      handle: async (_input, call) =>
        describeHealth(facts(), await readLedgerFacts(database(), call.unrecorded?.cause, findEarlierBackup), call),
    }),
  ];
}
