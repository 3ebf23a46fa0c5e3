import { createProofTools } from './domains/proofs/tools.ts';
import type { SkillRegistry } from './domains/skills/repository.ts';
import { createSkillTools } from './domains/skills/tools.ts';
import { createSystemTools, type SystemPorts } from './domains/system/tools.ts';
import { createTaskTools, type TaskDefaults } from './domains/tasks/tools.ts';
import { createTrailTools } from './domains/trail/tools.ts';
import type { Tool } from './tool.ts';

export interface SurfacePorts extends SystemPorts {
  readonly skills: () => SkillRegistry | undefined;
}

/** The closed list: what is not here cannot be called. */
export function createSurface(ports: SurfacePorts, defaults: TaskDefaults): readonly Tool[] {
  return [
    ...createTaskTools(defaults),
    ...createTrailTools(),
    ...createProofTools(),
    ...createSkillTools(ports.skills),
    ...createSystemTools(ports),
  ];
}

/** Sent at the handshake. Clients cut it at 2,000 characters, so the most important comes first. */
export const INSTRUCTIONS = `Colibri is a flight recorder for AI agents: a shared task board and a tamper-evident record of who did what and why. Every call is recorded.
The way to work: task_next_actions shows what can be done; claim a task with task_update {"task_id":…,"status":"in_progress"} (exactly one agent wins; a refusal says who has it); audit_session_start opens a session for it; thought_record writes down each decision; then review, then done; merkle_finalize seals the session. A task cannot be finished without a thought record. audit_verify_chain checks what others recorded.
Put new work on the board with task_create. An answer is {"ok":true,"data":…}; a failure has isError and a message that names the next step. If calls keep failing, server_health says what is wrong.`;
