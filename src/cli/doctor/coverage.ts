import { type CoverageReport, hasGap } from '../../recorder/reports/list-reports.ts';
import { describeCoverage } from '../views/coverage.ts';
import { plural } from '../views/terminal.ts';
import { type Finding, ok, warn } from './finding.ts';

/** Earlier gaps cannot be closed any more: the session that stopped last tells whether the hooks work now. */
export function checkCoverage([last, ...earlier]: readonly CoverageReport[]): Finding[] {
  if (last === undefined) return [];
  const before = earlier.filter(hasGap).length;
  const more = before === 0 ? '' : `; ${plural(before, 'earlier session has', 'earlier sessions have')} gaps`;
  const message = `${describeCoverage(last)}${more}`;
  const fix = 'run colibri init --record for that client, and restart it; colibri agents lists all gaps';
  return [hasGap(last) ? warn('coverage', message, fix) : ok('coverage', message)];
}
