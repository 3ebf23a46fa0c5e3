import { findSigningKey } from '../../checkpoints/signing-key.ts';
import { type Config, listOldNames } from '../../config.ts';
import { toError } from '../../errors.ts';
import { isTemporary, readProjectConfig } from '../support/with-ledger.ts';
import { type Finding, fail, failFrom, ok, warn } from './finding.ts';

/** Returns no configuration if it is invalid; the checks that need it are then skipped. */
export function checkSettings(): { config: Config | undefined; findings: Finding[] } {
  const old = listOldNames().map((name) =>
    fail('configuration', `${name} belongs to the old system and prevents the server from starting`, `unset ${name}`),
  );
  if (old.length > 0) return { config: undefined, findings: old };
  try {
    const config = readProjectConfig();
    const { mode, durability, project, workflow } = config;
    return {
      config,
      findings: [
        ok('configuration', `mode ${mode}, durability ${durability}, project ${project}, workflow ${workflow}`),
        ...(isTemporary(config)
          ? [
              warn(
                'configuration',
                'in mode TEST, servers and commands that write use a temporary ledger',
                'unset COLIBRI_MODE',
              ),
            ]
          : []),
        ...checkKey(config),
      ],
    };
  } catch (error) {
    return { config: undefined, findings: [failFrom('configuration', toError(error))] };
  }
}

/** A server whose key is refused works on, but signs nothing. */
function checkKey(config: Config): Finding[] {
  try {
    findSigningKey(config);
    return [];
  } catch (error) {
    return [failFrom('signing-key', toError(error))];
  }
}
