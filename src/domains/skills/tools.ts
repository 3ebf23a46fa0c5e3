import { defineTool, type Tool } from '../../tool.ts';
import type { SkillRegistry } from './repository.ts';
import { listInput, listOutput } from './schema.ts';

export function createSkillTools(registry: () => SkillRegistry | undefined): Tool[] {
  return [
    defineTool({
      name: 'skill_list',
      title: 'List skills',
      description:
        'The skills of this repository. Read the SKILL.md at the path of one that fits your task before you start.',
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
