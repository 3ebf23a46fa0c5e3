import { readLedgerId } from '../../checkpoints/ledger-id.ts';
import type { Config } from '../../config.ts';
import { toError } from '../../errors.ts';
import { hasWitnesses, listWitnesses } from '../../witnesses/configured.ts';
import { findCosigned } from '../../witnesses/cosignatures.ts';
import { type Finding, failFrom, ok, warn } from '../doctor/finding.ts';
import { withLedger } from '../support/with-ledger.ts';

/** What witnesses have cosigned last. Asks none of them, and opens no ledger for a user without witnesses. */
export async function checkWitnesses(config: Config): Promise<Finding[]> {
  if (!hasWitnesses()) return [];
  try {
    const ledgerId = await withLedger(config, readLedgerId);
    return listWitnesses(ledgerId).map(({ key, url }) => {
      const cosigned = findCosigned(ledgerId, key);
      if (cosigned === undefined)
        return warn('witness', `${key.name} at ${url} has cosigned nothing yet`, 'run colibri witness to ask it now');
      const at = new Date(cosigned.time * 1000).toISOString();
      return ok('witness', `${key.name} cosigned ${cosigned.size} entries at ${at}`);
    });
  } catch (error) {
    return [failFrom('witness', toError(error))];
  }
}
