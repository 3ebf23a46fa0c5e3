import type { EvidenceState } from '../../src/integrity/evidence/compare.ts';
import { evidenceText } from '../../src/integrity/evidence/evidence-text.ts';
import type { BundledEvidence } from '../../src/integrity/evidence/in-bundle.ts';
import { type Child, element } from '../dom.ts';

const IS: Readonly<Record<EvidenceState, 'good' | 'bad' | 'neutral'>> = {
  observed: 'good',
  said: 'neutral',
  contradicted: 'bad',
};

/** What a thought says about tests and commits, each with what was observed of it. */
export function evidenceParts(items: readonly BundledEvidence[]): Child[] {
  if (items.length === 0) return [];
  return [
    element('h3', { id: 'evidence-title' }, 'Said and observed'),
    element('p', { class: 'help' }, 'Compared with the observations in this file.'),
    element('ul', { class: 'evidence', 'aria-labelledby': 'evidence-title' }, ...items.map(renderItem)),
  ];
}

function renderItem(item: BundledEvidence): HTMLElement {
  return element(
    'li',
    {},
    element('span', { class: 'help' }, `${item.field} `),
    element('code', { class: 'whole' }, item.value),
    ' ',
    element('span', { class: `outcome is-${IS[item.state]}` }, evidenceText(item)),
  );
}
