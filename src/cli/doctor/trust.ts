import { toError } from '../../errors.ts';
import { judgeLedger } from '../../trust/assert-trusted.ts';
import { type Finding, failFrom, ok } from './finding.ts';

/** Whether servers open the ledger of this project; nothing to say of one that shows no sign of another origin. */
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
