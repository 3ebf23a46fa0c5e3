import type { EvidenceCounts } from '../../integrity/evidence/compare.ts';
import type { Style, Styles } from '../../terminal-text.ts';

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
