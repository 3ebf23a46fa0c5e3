import type { Evidence, EvidenceCounts } from '../../integrity/evidence/compare.ts';
import type { Style, Styles } from '../../terminal-text.ts';

/** What was observed about one item of a thought. "passed" is never said: a command line is not a test result. */
export function evidenceText({ field, state, entry, exit_code, failed }: Omit<Evidence, 'thought_id'>): string {
  if (entry === undefined) return field === 'commit_sha' && state === 'contradicted' ? `${state}: not recorded` : state;
  if (field === 'commit_sha') return `${state}: entry #${entry}`;
  const exit = exit_code === undefined ? (failed ? 'failed' : 'exit code unknown') : `exit ${exit_code}`;
  return `${state}: ${exit}, entry #${entry}`;
}

export function evidencePaint({ green, yellow, red }: Styles, state: string): Style {
  if (state === 'observed') return green;
  return state === 'contradicted' ? red : yellow;
}

/** How much of what thoughts say was observed: "2/3 observed". */
export function evidenceMark(counts: EvidenceCounts | undefined): string {
  if (counts === undefined) return '';
  const { observed, said, contradicted } = counts;
  return `${observed}/${observed + said + contradicted} observed`;
}

export function contradictionMark(counts: EvidenceCounts | undefined): string {
  return counts === undefined || counts.contradicted === 0 ? '' : `${counts.contradicted} contradicted`;
}
