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

/** The closed list of tools. */
export function createSurface(ports: SurfacePorts, defaults: TaskDefaults): readonly Tool[] {
  return [
    ...createTaskTools(defaults),
    ...createTrailTools(),
    ...createProofTools(),
    ...createSkillTools(ports.skills),
    ...createSystemTools(ports),
  ];
}
