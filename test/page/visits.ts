import { expect } from 'vitest';
import { FIND_LOW_CONTRAST } from './contrast.ts';
import { type PageSource, withPage } from './open-browser.ts';

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

/** In both color schemes, on a desktop and on a phone, with a screen reader. */
export async function inspectAccess({ source, key, file }: Visit): Promise<void> {
  await withPage(source, async (verifier) => {
    const { page } = verifier;
    const check = async (where: string) => {
      for (const width of [1280, 360]) {
        await page.setViewportSize({ width, height: 900 });
        expect(await page.evaluate('document.documentElement.scrollWidth'), where).toBeLessThanOrEqual(width);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          const { low, seen } = await page.evaluate<{ low: string[]; seen: number }>(FIND_LOW_CONTRAST);
          expect(low, `${colorScheme} ${where}`).toEqual([]);
          expect(seen).toBeGreaterThan(10);
        }
      }
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

const COUNT_NAMELESS = `[...document.querySelectorAll('button, input, select, textarea, [role=listbox]')].filter(
  (control) => control.checkVisibility() && !(control.labels?.length || control.ariaLabel || control.textContent.trim()),
).length`;
