import { createLibrary } from './domains/brief/library.ts';
import { createProofTools } from './domains/proofs/tools.ts';
import type { SkillRegistry } from './domains/skills/repository.ts';
import { createSkillTools } from './domains/skills/tools.ts';
import { createSystemTools, type SystemPorts } from './domains/system/tools.ts';
import { createTaskTools, type TaskDefaults } from './domains/tasks/tools.ts';
import { createTrailTools } from './domains/trail/tools.ts';
import type { Library } from './middleware/library.ts';
import type { Tool } from './tool.ts';
import { findEarlierBackup } from './trust/backups.ts';

export interface SurfacePorts extends SystemPorts {
  readonly skills: () => SkillRegistry | undefined;
  /** The newest signed checkpoint. */
  readonly checkpoint: () => string | undefined;
}

/** The closed list of tools. */
export function createSurface(ports: SurfacePorts, defaults: TaskDefaults): readonly Tool[] {
  return [
    ...createTaskTools(defaults),
    ...createTrailTools(),
    ...createProofTools(ports.checkpoint),
    ...createSkillTools(ports.skills),
    ...createSystemTools(ports, findEarlierBackup),
  ];
}

/** The resources and prompts beside the tools. A task reads the same in both. */
export function createSurfaceLibrary(tools: readonly Tool[], { project, claimTtlMs }: TaskDefaults): Library {
  const taskGet = tools.find(({ name }) => name === 'task_get');
  if (taskGet === undefined) throw new Error('the surface has no task_get');
  return createLibrary({
    project,
    claimTtlMs,
    readTask: async (context, task_id) =>
      (await taskGet.handle({ task_id, include_thought_trail: true }, context)) as Readonly<Record<string, unknown>>,
  });
}
