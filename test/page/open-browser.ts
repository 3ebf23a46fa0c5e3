import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { brotliDecompressSync } from 'node:zlib';
import chromium from '@sparticuz/chromium';
import { type Browser, type Page, chromium as playwright } from 'playwright-core';
import { expect } from 'vitest';

/** The page without a bundle. */
export const PAGE_TEXT = brotliDecompressSync(readFileSync('dist/page.html.br')).toString('utf8');

/** A page in a file. */
export interface PageSource {
  readonly browser: Browser;
  readonly url: string;
}

export async function openBrowser(): Promise<Browser> {
  // In one process, the browser would end with its first page.
  const args = chromium.args.filter((name) => name !== '--single-process');
  return playwright.launch({
    executablePath: await chromium.executablePath(),
    args: [...args, '--no-sandbox', '--disable-background-networking'],
  });
}

/** A tab of the verifier, with everything that it must never do. */
export class VerifierPage {
  readonly page: Page;
  /** Errors, violations of its policy, dialogs, and requests other than for the page itself. */
  readonly offenses: string[] = [];

  constructor(page: Page) {
    this.page = page;
    page.on('pageerror', (error) => this.offenses.push(String(error.stack)));
    page.on('console', (message) => this.offenses.push(message.text()));
    page.on('dialog', (dialog) => {
      this.offenses.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('request', (request) => {
      if (!request.url().startsWith('file:')) this.offenses.push(`request: ${request.url()}`);
    });
  }

  static async open({ browser, url }: PageSource): Promise<VerifierPage> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' });
    const opened = new VerifierPage(await context.newPage());
    await opened.page.goto(url);
    return opened;
  }

  async give(text: string | Buffer, key = ''): Promise<void> {
    // Without an event, which would judge the file that is there once more.
    await this.page.evaluate(
      `document.title = 'waiting'; document.getElementById('keys').value = ${JSON.stringify(key)}`,
    );
    await this.page.setInputFiles('#file', { name: 'a file', mimeType: '', buffer: Buffer.from(text) });
    await this.settled();
  }

  /** Several files at once, and no typed key. */
  async giveFiles(texts: readonly string[]): Promise<void> {
    await this.page.evaluate("document.title = 'waiting'");
    const files = texts.map((text, place) => ({ name: `file ${place}`, mimeType: '', buffer: Buffer.from(text) }));
    await this.page.setInputFiles('#file', files);
    await this.settled();
  }

  /** Until the file was judged, or refused. */
  async settled(): Promise<void> {
    // The policy of the page forbids what Playwright would poll with.
    while (!/^(?:FAILS|Checked|Not judged)/.test(await this.page.title())) await setTimeout(10);
  }

  /** The report as text; undefined if the file was refused. */
  async report(): Promise<string | undefined> {
    if (await this.page.locator('#result').isHidden()) return undefined;
    return (await this.page.locator('#report').textContent()) ?? undefined;
  }

  async text(selector: string): Promise<string> {
    return (await this.page.locator(selector).textContent()) ?? '';
  }

  async openTab(name: string): Promise<void> {
    await this.page.click(`#tab-${name}`);
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}

/** Runs the work in a tab of its own, which must not offend. */
export async function withPage(source: PageSource, work: (verifier: VerifierPage) => Promise<void>): Promise<void> {
  const verifier = await VerifierPage.open(source);
  try {
    await work(verifier);
    expect(verifier.offenses).toEqual([]);
  } finally {
    await verifier.close();
  }
}
