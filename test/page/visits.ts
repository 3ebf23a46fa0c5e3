import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { claimTask, failed, observe, ran } from '../evidence/observed-server.ts';
import type { CliProject } from '../support/cli-project.ts';
import { openServer } from '../support/test-server.ts';
import { FIND_LOW_CONTRAST } from './contrast.ts';
import { type PageSource, withPage } from './open-browser.ts';
import { createBundle } from './synthetic-bundle.ts';

/** What people do with the page, and the files that they do it with. */
export interface Visit {
  readonly source: PageSource;
  readonly key: string;
  readonly file: (name: string) => string;
}

export async function operateByKeyboard({ source, key, file }: Visit): Promise<void> {
  await withPage(source, async (verifier) => {
    const { page } = verifier;
    const focused = () =>
      page.evaluate<string>(
        'document.activeElement.id || document.activeElement.getAttribute("role") || document.activeElement.className',
      );
    await verifier.give(file('ledger'), key);
    await page.focus('#tab-claims');
    const seen: string[] = [];
    for (let step = 0; step < 4; step += 1) {
      await page.keyboard.press('ArrowRight');
      seen.push(await focused());
      expect(await page.locator('[role=tabpanel]:visible').count()).toBe(1);
    }
    expect(seen).toEqual(['tab-board', 'tab-timeline', 'tab-tree', 'tab-claims']);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Tab');
    expect(await focused()).toContain('card');
    await page.keyboard.press('Enter');
    expect(await page.inputValue('#search')).toMatch(/^T-\d{4}$/);
    await page.focus('[role=listbox]');
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowUp');
    await page.locator('.row').first().hover();
    const ring = `getComputedStyle(document.querySelector('.list-frame'), '::after')`;
    expect(await page.evaluate(`[${ring}.borderTopWidth, ${ring}.zIndex, ${ring}.pointerEvents]`)).toEqual([
      '3px',
      '1',
      'none',
    ]);
    const active = await page.getAttribute('[role=listbox]', 'aria-activedescendant');
    expect(await page.getAttribute(`#${active}`, 'aria-selected')).toBe('true');
    await page.locator('#detail button').first().focus();
    await page.keyboard.press('Enter');
    expect(await focused()).toBe('entry');
    await page.keyboard.press('Tab');
    const before = await page.inputValue('#entry');
    await page.keyboard.press('Enter');
    expect(await page.inputValue('#entry')).not.toBe(before);
    expect(await focused()).toBe('entry-before');
  });
}

/** A forger sends a bundle and the key of it, in either order. */
export async function dropKeys({ source, key, file }: Visit): Promise<void> {
  const forged = createBundle({ size: 12 });
  await withPage(source, async (verifier) => {
    const { page } = verifier;
    for (const files of [
      [forged.text, `${forged.key}\n`],
      [`${forged.key}\n`, forged.text],
    ]) {
      await verifier.give(file('ledger'), key);
      await verifier.giveFiles(files);
      // Waits: a judgment of the file before may still end after the files were given.
      await page.waitForSelector('#problem:has-text("none of the given keys has signed")');
      expect(await page.inputValue('#keys')).toBe(key);
      expect(await verifier.text('#keys-dropped')).toContain('It is not used');
    }
    await page.fill('#keys', '');
    await page.waitForSelector('#trust.is-warning');
    expect(await verifier.text('#trust')).toContain('Rests on a key that came in a file.');
    expect(await verifier.text('#trust')).toContain(forged.key);
    expect(await page.inputValue('#keys')).toBe('');
    await page.click('#keys-dropped button');
    await page.waitForSelector('#keys-dropped', { state: 'hidden' });
    await page.waitForSelector('#trust strong:text("inside this file alone")');
  });
}

/**
 * A task whose thought says something that was observed, something that was not, and something else than was observed.
 */
export async function sayAndObserve(project: CliProject): Promise<void> {
  const server = await openServer(project.ledger, 'agent');
  try {
    const observed = observe(server, project.folder);
    const task_id = await claimTask(observed);
    await observed.report(failed('npm test', 2));
    await observed.report(ran('make'));
    const tests_run = ['npm test passed', 'make', 'cargo test'];
    await server.recordThought({ task_id, type: 'decision', content: 'It works.', commit_sha: 'abcdef1', tests_run });
  } finally {
    await server.close();
  }
}

const NO_REPORT = 'abcdef1 said: this file does not hold a report of git about it';

/** In the page of an export of that task, then in an export of its session, which has no observations. */
export async function readEvidence({ source, key, file }: Visit): Promise<void> {
  await withPage(source, async (verifier) => {
    const { page } = verifier;
    const read = async () => {
      await verifier.openTab('timeline');
      await page.locator('.row:has(.of-decision)', { hasText: 'It works.' }).click();
      const items = page.getByRole('list', { name: 'Said and observed' }).getByRole('listitem');
      return (await items.allTextContents()).map((text) => text.replace(/^\S+ (.*?)(?:#\d+)?$/, '$1'));
    };
    await verifier.settled();
    expect(await read()).toEqual([
      'npm test passed contradicted: exit 2, entry ',
      'make observed: exit 0, entry ',
      'cargo test said',
      NO_REPORT,
    ]);
    for (const width of [1280, 360]) await assertReadable(page, width, 'evidence');
    await verifier.give(file('session'), key);
    const open = 'said: this file does not hold the observations that could decide it';
    expect(await read()).toEqual([
      ...['npm test passed', 'make', 'cargo test'].map((test) => `${test} ${open}`),
      NO_REPORT,
    ]);
  });
}

/** Of a thought and a session, and of the calls that wrote them; then of a proof, which has one entry. */
export async function readRedactions({ source, key, file }: Visit): Promise<void> {
  await withPage(source, async (verifier) => {
    await verifier.give(file('erased'), key);
    await verifier.openTab('timeline');
    for (const subject of ['\u0398-0001', 'A-0001 started', 'thought_record', 'audit_session_start']) {
      const row = verifier.page.locator('.row', { hasText: subject }).first();
      expect(await row.textContent(), subject).toMatch(/\[redacted by person:ada on \d{4}-\d\d-\d\d\]/);
    }
    await verifier.give(file('proof'), key);
    expect(await verifier.text('#summary')).toContain('Proved here1 entryRoot');
  });
}

/** In both color schemes, on a desktop and on a phone, with a screen reader. */
export async function inspectAccess({ source, key, file }: Visit): Promise<void> {
  await withPage(source, async (verifier) => {
    const { page } = verifier;
    const check = async (where: string) => {
      for (const width of [1280, 360]) await assertReadable(page, width, where);
      expect(await page.evaluate(COUNT_NAMELESS), where).toBe(0);
    };
    await check('empty');
    for (const role of ['banner', 'main', 'contentinfo', 'status'] as const)
      expect(await page.getByRole(role).count(), role).toBeGreaterThan(0);
    expect(await page.getAttribute('html', 'lang')).toBe('en');
    await verifier.give(file('ledger'));
    for (const tab of ['claims', 'board', 'timeline', 'tree']) {
      await verifier.openTab(tab);
      if (tab === 'timeline') await page.locator('.row').first().click();
      await check(tab);
    }
    await verifier.give(file('ledger').replace('the secret title', 'another title'), key);
    await check('forged');
    await verifier.give('no bundle', key);
    await check('refused');
  });
}

async function assertReadable(page: Page, width: number, where: string): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
  expect(await page.evaluate('document.documentElement.scrollWidth'), where).toBeLessThanOrEqual(width);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const { low, seen } = await page.evaluate<{ low: string[]; seen: number }>(FIND_LOW_CONTRAST);
    expect(low, `${colorScheme} ${where}`).toEqual([]);
    expect(seen).toBeGreaterThan(10);
  }
}

const COUNT_NAMELESS = `[...document.querySelectorAll('button, input, select, textarea, [role=listbox]')].filter(
  (control) => control.checkVisibility() && !(control.labels?.length || control.ariaLabel || control.textContent.trim()),
).length`;
