import { type Config, listOldNames } from '../../config.ts';
import { toError } from '../../errors.ts';
import { projectConfig } from '../support/with-ledger.ts';
import { type Finding, fail, ok } from './finding.ts';

/** Without a configuration there is no ledger to look at. */
export function checkSettings(): { config: Config | undefined; findings: Finding[] } {
  const old = listOldNames().map((name) =>
    fail('configuration', `${name} belongs to the old system and keeps the server from starting`, `unset ${name}`),
  );
  if (old.length > 0) return { config: undefined, findings: old };
  try {
    const config = projectConfig();
    const { mode, durability, project, workflow } = config;
    return {
      config,
      findings: [ok('configuration', `mode ${mode}, durability ${durability}, ${project}, ${workflow}`)],
    };
  } catch (error) {
    const { message } = toError(error);
    const variable = message.split(':')[0] ?? 'the variable';
    return {
      config: undefined,
      findings: [fail('configuration', message, `set ${variable} to an allowed value, or unset it`)],
    };
  }
}
