import { defineTool, type Tool } from '../../tool.ts';
import type { SkillRegistry } from './repository.ts';
import { listInput, listOutput } from './schema.ts';

export function createSkillTools(registry: () => SkillRegistry | undefined): Tool[] {
  return [
    defineTool({
      name: 'skill_list',
      title: 'List skills',
      description:
        'List the skills of this repository, with paths from its root. Before you start, read the SKILL.md of each skill that fits your task.',
      inputSchema: listInput,
      outputSchema: listOutput,
      access: 'read',
      idempotent: true,
      handle: ({ search, capability }) => {
        const wanted = search?.toLowerCase();
        const skills = (registry()?.list() ?? [])
          .filter(
            ({ name, description }) => wanted === undefined || `${name}\n${description}`.toLowerCase().includes(wanted),
          )
          .filter(({ capabilities }) => capability === undefined || capabilities.includes(capability));
        return { skills, total_count: skills.length };
      },
    }),
  ];
}
