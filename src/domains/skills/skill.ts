/** A skill as `skill_list` returns it. */
export interface Skill {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly capabilities: string[];
  readonly path: string;
}

/** A skipped file and the reason. */
export interface SkillDefect {
  readonly path: string;
  readonly defect: string;
}
