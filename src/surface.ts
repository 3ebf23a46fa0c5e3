import { createSystemTools, type SystemPorts } from './domains/system/tools.ts';
import type { Tool } from './tool.ts';

/** The closed list: what is not here cannot be called. */
export function createSurface(ports: SystemPorts): readonly Tool[] {
  return [...createSystemTools(ports)];
}

/** Sent at the handshake. Clients cut it at 2,000 characters, so the most important comes first. */
export const INSTRUCTIONS = `Colibri is a flight recorder for AI agents: every call you make here is recorded in a tamper-evident ledger.
An answer is {"ok":true,"data":…}. A failure has isError and a message that says what to do next.
If calls fail, server_health says what is wrong.`;
