import { type CoverageReport, hasGap } from '../../recorder/reports/list-reports.ts';
import { listNames, plural, type Terminal } from './terminal.ts';
import { printable, wrap } from './text-width.ts';

/** "claude-code session 58d498e1: 2 of 14 calls not recorded: toolu_1, toolu_2" */
export function describeCoverage(report: CoverageReport): string {
  const { client, session, agent, seen, recorded, missing, defect } = report;
  const who = agent === null ? '' : `, sub-agent ${printable(agent)}`;
  const facts = [
    ...(defect === null ? [] : [`the transcript ${printable(defect)}`]),
    ...(recorded < seen
      ? [`${(seen - recorded).toLocaleString('en')} of ${plural(seen, 'call')} not recorded: ${listNames(missing)}`]
      : []),
  ];
  return `${printable(client)} session ${printable(session)}${who}: ${facts.join(', ') || `all ${plural(seen, 'call')} recorded`}`;
}

const MAX_GAPS = 10;

/** The sessions with a gap, the latest first. Empty if there are none. */
export function describeGaps(reports: readonly CoverageReport[]): string[] {
  const gaps = reports.filter(hasGap);
  const more = gaps.length - MAX_GAPS;
  return [
    ...gaps.slice(0, MAX_GAPS).map(describeCoverage),
    ...(more > 0 ? [`and ${plural(more, 'session')} more`] : []),
  ];
}

/** One line if every call of all these sessions was recorded; none if no session was compared. */
export function describeWhole(reports: readonly CoverageReport[]): string[] {
  const calls = reports.reduce((sum, { seen }) => sum + seen, 0);
  return reports.length === 0 || reports.some(hasGap) ? [] : [`all ${plural(calls, 'call')} of its sessions recorded`];
}

/** The gaps below a view of what was observed. */
export function renderGaps(reports: readonly CoverageReport[], terminal: Terminal): string[] {
  const { width = Number.POSITIVE_INFINITY, colors } = terminal;
  return describeGaps(reports)
    .flatMap((gap) => wrap(gap, width))
    .map((line) => colors.yellow(line));
}
