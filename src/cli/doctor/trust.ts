import { toError } from '../../errors.ts';
import { judgeLedger } from '../../trust/assert-trusted.ts';
import { type Finding, failFrom, ok } from './finding.ts';

/** Checks whether servers open the ledger of this project. No finding for a ledger that was created here. */
export async function checkTrust(path: string): Promise<Finding[]> {
  try {
    const trust = await judgeLedger(path);
    if (trust.verdict === 'own') return [];
    if (trust.verdict === 'refused') return [failFrom('trust', trust.error)];
    const reasons = trust.concerns.map(({ says }) => says).join(', ');
    return [ok('trust', `accepted on ${trust.acceptance.acceptedAt}, although it ${reasons}`)];
  } catch (error) {
    return [failFrom('trust', toError(error))];
  }
}
