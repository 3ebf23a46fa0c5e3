import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { displayWidth } from '../../src/cli/views/text-width.ts';
import {
  createProject,
  expectWhole,
  frozenAt,
  viewsOnTerminal,
  withAgent,
} from '../support/commands/project-folder.ts';
import { promiseTest } from '../support/promise-test.ts';

const VIEWS = ['board', 'list', 'next', 'agents', 'log -n 8', 'show T-0002'];
/** In these the text is below its term, or a call takes two lines. */
const NARROW = ['log -n 4', 'brief', 'show T-0002 --width 20', 'show --help'];
const COLUMNS: readonly (readonly [number, readonly string[]])[] = [
  [40, NARROW],
  [60, ['log -n 4', '--help']],
  [80, VIEWS],
  [120, VIEWS],
];
const TITLES: readonly [string, Readonly<Record<string, unknown>>][] = [
  ['Rotate the signing key before the certificate of the old one expires in December', { priority: 'critical' }],
  ['Migrate the billing service to the new event bus without losing invoices in flight', { priority: 'high' }],
  ['Write the incident report', { labels: ['docs'], estimate_hours: 2 }],
  ['Reproduce the flaky checkout test on a slow machine, and bisect it', { depends_on: ['T-0001'] }],
  ['日本語の領収書を追加する、とても長いタイトルなので端末の幅に収まらないかもしれない 🧾', { priority: 'low' }],
  ['Ship https://example.com/releases/2026/spring/candidate-without-a-single-blank', {}],
  ['Ask the vendor', { parent_id: 'T-0003' }],
];

/** Tasks in most states, of two agents. One of them fell silent. */
async function fill(folder: string): Promise<void> {
  const move = (task_id: string, status: string, more = {}) => ['task_update', { task_id, status, ...more }] as const;
  const decision = 'Both buses get every event until the last invoice has passed, because the old one cannot replay.';
  await withAgent(
    folder,
    'claude-code',
    async (agent) => {
      for (const [title, more] of TITLES) await agent('task_create', { title, status: 'todo', ...more });
      await agent(...move('T-0002', 'in_progress', { progress: 40 }));
      await agent('audit_session_start', { task_id: 'T-0002', auditor_id: 'ada' });
      const commit_sha = '4f2d1c0b9a8e7d6c5b4a39281706f5e4d3c2b1a0';
      await agent('thought_record', { task_id: 'T-0002', type: 'decision', content: decision, commit_sha });
    },
    frozenAt('2026-04-08T09:00:00.000Z'),
  );
  await withAgent(
    folder,
    'cursor',
    async (agent) => {
      await agent(...move('T-0006', 'in_progress'));
      await agent(...move('T-0006', 'review'));
      await agent(...move('T-0005', 'in_progress'));
      await agent(...move('T-0005', 'blocked', { blocked_reason: 'the answer of the tax office is not there yet' }));
    },
    frozenAt('2026-04-08T11:58:30.000Z'),
  );
}

describe('the views on a terminal', () => {
  promiseTest('cli/views', 'of 40 to 120 columns', async () => {
    const folder = createProject();
    await fill(folder);
    for (const [columns, names] of COLUMNS) {
      const views = viewsOnTerminal(folder, columns, names, { NO_COLOR: '1', ...frozenAt('2026-04-08T12:00:00.000Z') });
      const shown = views.map((view, index) => `$ colibri ${names[index]}\n${view}`).join('\n');
      expect(views).toHaveLength(names.length);
      for (const line of shown.split('\n')) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
      await expect(shown).toMatchFileSnapshot(join('snapshots', `views-${columns}.txt`));
    }
    expectWhole(folder);
  });
});
