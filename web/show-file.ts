import { type BundledEvidence, compareInBundle } from '../src/integrity/evidence/in-bundle.ts';
import type { BundleReport } from '../src/integrity/index.ts';
import { byId, element, replaceContent } from './dom.ts';
import { findRecord, type LogRecord, listRecords } from './model/records.ts';
import { buildTree, type TreeNode } from './model/tree.ts';
import { renderBoard } from './views/board.ts';
import { renderClaims } from './views/claims.ts';
import { renderDetail } from './views/detail.ts';
import { type View, wireTabs } from './views/tabs.ts';
import { renderTimeline, type Timeline } from './views/timeline.ts';
import { ENTRY_FIELD, renderTree } from './views/tree.ts';

const PLACES: Readonly<Record<View, string>> = {
  claims: 'panel-claims',
  board: 'panel-board',
  timeline: 'timeline',
  tree: 'panel-tree',
};

let draw: (view: View) => void = () => undefined;
let current: View = 'claims';
const open = wireTabs((view) => {
  current = view;
  draw(view);
});

/**
 * Fills the four views. Each is drawn when it is opened for the first time; `first` or the open one is drawn at once.
 */
export function showFile(report: BundleReport, first?: View): void {
  const { entries, checkpoint, hashes } = report;
  let records: readonly LogRecord[] | undefined;
  let timeline: Timeline | undefined;
  let tree: TreeNode | undefined;
  let index = entries.at(-1)?.index ?? 0;
  const indexes = entries.map((entry) => entry.index);
  const drawn = new Set<View>();

  const recordsOf = () => {
    records ??= listRecords(entries);
    return records;
  };
  const showInTree = (chosen: number) => {
    index = chosen;
    drawn.delete('tree');
    const isOpen = current === 'tree';
    open('tree');
    // The button that was pressed is in the view that was left.
    if (!isOpen) byId(ENTRY_FIELD).focus();
  };
  const compared = new Map<string, readonly BundledEvidence[]>();
  const evidenceOf = ({ entry: { fields }, taskId = '' }: LogRecord) => {
    if (fields.kind !== 'thought') return [];
    const items = compared.get(taskId) ?? compareInBundle({ entries, size: checkpoint.size }, taskId);
    compared.set(taskId, items);
    return items.filter(({ thought_id }) => thought_id === fields['thought_id']);
  };
  const openTimeline = () => {
    timeline ??= renderTimeline(byId(PLACES.timeline), recordsOf(), (record) => {
      index = record.entry.index;
      drawn.delete('tree');
      renderDetail(byId('detail'), record, { evidence: evidenceOf(record), onShowInTree: showInTree });
    });
    return timeline;
  };
  const showTree = () => {
    tree ??= buildTree(entries, checkpoint.size, hashes);
    renderTree(byId(PLACES.tree), {
      root: tree,
      indexes,
      index,
      signedRoot: checkpoint.root,
      titleOf: (chosen) => {
        const record = recordsOf()[findRecord(recordsOf(), chosen)];
        return record === undefined ? '' : `${record.title} · ${record.entry.fields.actor}`;
      },
      onChoose: showInTree,
    });
  };
  const views: Readonly<Record<View, () => void>> = {
    claims: () => renderClaims(byId(PLACES.claims), report),
    board: () =>
      renderBoard(byId(PLACES.board), {
        entries,
        isWhole: entries.length === checkpoint.size,
        onChoose: (taskId) => {
          open('timeline');
          openTimeline().search(taskId);
        },
      }),
    timeline: () => openTimeline(),
    tree: showTree,
  };
  draw = (view) => {
    if (drawn.has(view)) return;
    drawn.add(view);
    if (view !== 'claims' && entries.length === 0) replaceContent(byId(PLACES[view]), nothingProved());
    else views[view]();
  };
  replaceContent(byId('detail'), element('p', { class: 'empty' }, 'Choose a record to see all of it.'));
  // A failed claim is not hidden behind a board.
  open(report.claims.some(({ holds }) => holds === 'no') ? 'claims' : (first ?? current));
}

function nothingProved(): HTMLElement {
  return element('p', { class: 'empty' }, 'The entries are not those of the signed log, so none of them is shown.');
}
