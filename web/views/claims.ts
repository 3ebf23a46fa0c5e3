import { type BundleReport, FINDING_WORDS, type Finding, findingLine } from '../../src/integrity/index.ts';
import { button, element, replaceContent } from '../dom.ts';
import { copyButton } from './copy.ts';

/** What each claim is about, for a reader who sees a proof for the first time. */
const ABOUT: Readonly<Record<Finding['about'], readonly [title: string, help: string]>> = {
  checkpoint: ['Signature', 'The owner of the key signed the size and the root of the log.'],
  envelope: ['Envelope', 'The format around the proof, for tools that know it.'],
  inclusion: ['Inclusion', 'Hashes lead from each entry to the signed root. One changed character breaks them.'],
  keys: ['Keys', 'Keys of a log are entries of it. A new key is signed by the one that it replaces.'],
  continuation: [
    'Continuation',
    'A person went on with a log that did not extend what was signed: a restored backup, or a cut log.',
  ],
  content: ['Content', 'Entries hold digests. What you read here has exactly these digests.'],
  redaction: ['Redaction', 'Permanently removed content. The entry names the actor and the reason.'],
  session: ['Session', 'A sealed session names how many records it has, and their root.'],
  chain: ['Decisions', 'Each decision names the hash of the one before it.'],
  completeness: ['Completeness', 'Whether entries of the signed log are left out of this file.'],
  witnesses: [
    'Witnesses',
    'Others who confirm that they saw the same log. They rule out two histories for two readers.',
  ],
  time: ['Time', 'When others saw this log at the latest.'],
  stamp: ['Time stamp', 'A time stamp authority (RFC 3161) vouches for a time; its signature is checked elsewhere.'],
  truth: ['Truth', 'A proof shows that a record is unchanged, not that it is true.'],
};

const SIGNS: Readonly<Record<Finding['holds'], string>> = { yes: '✓', no: '✗', unknown: '?' };
const MAX_CLAIMS = 200;

export function renderClaims(target: HTMLElement, { claims }: BundleReport): void {
  const list = element('ul', { class: 'claims' });
  list.append(...claims.slice(0, MAX_CLAIMS).map(claimItem));
  const rest = claims.slice(MAX_CLAIMS);
  const more = button(`Show ${rest.length.toLocaleString('en')} more`, () => {
    list.append(...rest.map(claimItem));
    more.remove();
  });
  replaceContent(target, tally(claims), list, rest.length > 0 ? more : undefined, asText(claims));
}

/** "6 hold, 0 fail, 3 cannot be known": no single word that would hide the rest. */
export function tallyText(claims: readonly Finding[]): string {
  const count = (holds: Finding['holds']) => claims.filter((claim) => claim.holds === holds).length;
  const holding = count('yes');
  const failing = count('no');
  return `${holding} ${holding === 1 ? 'holds' : 'hold'}, ${failing} ${failing === 1 ? 'fails' : 'fail'}, ${count('unknown')} cannot be known`;
}

function tally(claims: readonly Finding[]): HTMLElement {
  const hasFailed = claims.some(({ holds }) => holds === 'no');
  return element(
    'p',
    { class: `tally ${hasFailed ? 'is-bad' : ''}` },
    `${claims.length === 1 ? '1 claim' : `${claims.length} claims`}: ${tallyText(claims)}.`,
    hasFailed ? undefined : element('span', {}, ' Which of them matter is for you to decide.'),
  );
}

function claimItem({ about, holds, says }: Finding): HTMLElement {
  const [title, help] = ABOUT[about];
  return element(
    'li',
    { class: `claim is-${holds}`, 'data-about': about, 'data-holds': holds },
    element('span', { class: 'mark' }, element('span', { 'aria-hidden': 'true' }, SIGNS[holds]), FINDING_WORDS[holds]),
    element(
      'div',
      {},
      element('h3', {}, title),
      element('p', { class: 'says data' }, says),
      element('p', { class: 'help' }, help),
    ),
  );
}

/** Word for word what `colibri verify` prints. */
function asText(claims: readonly Finding[]): HTMLElement {
  const text = claims.map(findingLine).join('\n');
  return element(
    'details',
    { class: 'as-text' },
    element('summary', {}, 'The report as text, as colibri verify prints it'),
    element('pre', { id: 'report', tabindex: 0 }, text),
    copyButton(() => text),
  );
}
