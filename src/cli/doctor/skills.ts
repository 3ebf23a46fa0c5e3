import type { Config } from '../../config.ts';
import { findWorkTree, serverConfig } from '../../db/locate.ts';
import { createSkillRegistry } from '../../domains/skills/repository.ts';
import { type Finding, ok, warn } from './finding.ts';

export function checkSkills(config: Config): Finding[] {
  const folder = serverConfig(config).skillsPath;
  const registry = createSkillRegistry({ folder, repository: findWorkTree() ?? '' }, () => undefined);
  const count = registry.list().length;
  const defects = registry
    .defects()
    .map(({ path, defect }) => warn('skills', `${path}: ${defect}`, 'fix the file; it is skipped until then'));
  if (count === 0 && defects.length === 0)
    return [
      warn('skills', `none in ${folder}`, 'run colibri init to copy the skills that teach agents to use Colibri'),
    ];
  return [ok('skills', `${count} in ${folder}`), ...defects];
}
