import { randomBytes } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { embedInPage } from '../../src/cli/proofs/page.ts';
import { BadFormat, findingLine, parseVerifierKey, verifyText } from '../../src/integrity/index.ts';
import { FORGERIES } from '../proofs/forgeries.ts';
import { SigningProject, seal } from '../proofs/support.ts';
import { call } from '../support/memory-server.ts';
import { promiseTest } from '../support/promise-test.ts';
import { openBrowser, PAGE_TEXT, type PageSource, VerifierPage, withPage } from './open-browser.ts';
import { createBundle } from './synthetic-bundle.ts';
import { dropKeys, inspectAccess, operateByKeyboard, readEvidence, readRedactions, sayAndObserve } from './visits.ts';

let source: PageSource;
let project: SigningProject;
let key: string;
const file = (name: string) => readFileSync(project.path(name), 'utf8');

beforeAll(async () => {
  const launched = openBrowser();
  project = new SigningProject({ isShared: true });
  await project.withAgent(async (agent) => {
    await call(agent, 'task_create', { title: 'the secret title', status: 'todo' });
    await call(agent, 'task_create', { title: HOSTILE_TITLE });
    await seal(agent);
  });
  await sayAndObserve(project);
  key = (await project.colibri('key')).stdout.trim();
  await project.colibri('export', '--all', '--out', project.path('ledger'));
  await project.colibri('export', '--task', 'T-0001', '--out', project.path('task'));
  await project.colibri('prove', '3', '--out', project.path('proof'));
  await project.colibri('prove', '3', '--format', 'cose', '--out', project.path('receipt'));
  await project.colibri('prove', '3', '--format', 'dsse', '--out', project.path('envelope'));
  await project.colibri('export', '--all', '--html', '--out', project.path('all.html'));
  await project.colibri('export', '--task', 'T-0003', '--html', '--out', project.path('evidence.html'));
  await project.colibri('export', '--session', 'A-0002', '--out', project.path('session'));
  await project.colibri('export', '--html', '--out', project.path('verifier.html'));
  source = { browser: await launched, url: pathToFileURL(project.path('verifier.html')).href };
}, 60_000);

afterAll(async () => {
  await source?.browser.close();
  project?.remove();
});

const HOSTILE_TITLE = '<img src=x onerror=alert(1)></script><script>alert(2)</script> \u202eevil\u202c "quoted"';

/** What `colibri verify` prints; undefined if it refuses. */
function reportInNode(text: string, trusted: string): string | undefined {
  try {
    const keys = [parseVerifierKey(trusted)];
    return verifyText(text, { log: keys, witnesses: keys }).claims.map(findingLine).join('\n');
  } catch (error) {
    if (error instanceof BadFormat) return undefined;
    throw error;
  }
}

describe('the claims of the page', () => {
  promiseTest('page/claims', 'are word for word what colibri verify prints', async () => {
    for (const name of ['ledger', 'task', 'proof', 'receipt', 'envelope']) {
      const { stdout, status } = await project.colibri('verify', project.path(name), '--key', key);
      expect(status, name).toBe(0);
      await withPage(source, async (verifier) => {
        await verifier.give(readFileSync(project.path(name)), key);
        expect(`${await verifier.report()}\n`).toBe(stdout);
        expect(await verifier.text('#trust')).toContain('Checked against the key that you gave');
        for (const claim of stdout.trimEnd().split('\n'))
          expect(await verifier.text('#panel-claims .claims')).toContain(claim.slice(8));
      });
    }
  });

  promiseTest('page/forged', 'say of every forged file what Node says', async () => {
    await withPage(source, async (verifier) => {
      for (const { name, bundle, change, status } of FORGERIES) {
        const forged = change(file(bundle));
        await verifier.give(forged, key);
        const report = await verifier.report();
        expect(report, name).toBe(reportInNode(forged, key));
        expect(report === undefined, name).toBe(status === 3);
        if (report === undefined) expect(await verifier.text('#problem'), name).toContain('cannot be judged');
        else expect(await verifier.text('#failures'), name).toContain('Do not rely on this file');
      }
      const halved = file('ledger').replace('the secret title', '\\ud800');
      await verifier.give(halved, key);
      expect([await verifier.report(), reportInNode(halved, key)]).toEqual([undefined, undefined]);
      for (const bytes of [
        [0xff, 0xfe, 0x00],
        [0xed, 0xa0, 0x80],
      ]) {
        await verifier.give(Buffer.from(bytes), key);
        expect(await verifier.text('#problem')).toContain('not UTF-8');
      }
      await verifier.give('', key);
      expect(await verifier.report()).toBeUndefined();
    });
  });

  promiseTest('page/key', 'say loudly that they rest on a key inside the file', async () => {
    await withPage(source, async (verifier) => {
      await verifier.give(file('ledger'));
      expect(await verifier.text('#trust')).toContain('Rests on the key inside this file alone.');
      expect(await verifier.text('#trust')).toContain(key);
      expect(await verifier.report()).toBe(reportInNode(file('ledger'), key));
      await verifier.page.fill('#keys', key);
      await verifier.page.waitForSelector('#trust.is-good');
      expect(await verifier.text('#trust')).not.toContain('alone');
      for (const bad of ['not a key', createBundle({ size: 2 }).key]) {
        await verifier.page.fill('#keys', bad);
        await verifier.page.waitForSelector('#problem .banner');
        expect(await verifier.report()).toBeUndefined();
        await verifier.page.fill('#keys', key);
        await verifier.page.waitForSelector('#trust.is-good');
      }
      await verifier.give(file('proof'));
      expect(await verifier.text('#problem')).toContain('a signature proves nothing without a key that you trust');
    });
  });

  promiseTest('page/key', 'never take a key in a file for that of the reader', () => dropKeys({ source, key, file }));

  promiseTest(
    'page/forged',
    'end in words if the verifier itself fails, and never below an earlier report',
    async () => {
      await withPage(source, async (verifier) => {
        await verifier.give(file('ledger'), key);
        await verifier.page.evaluate('Blob.prototype.arrayBuffer = () => Promise.reject(new RangeError("no memory"))');
        await verifier.give(file('task'), key);
        expect(await verifier.text('#problem')).toContain('This file cannot be judged: no memory.');
        expect(await verifier.report()).toBeUndefined();
      });
    },
  );
});

describe('a page with a bundle in it', () => {
  promiseTest('page/embedded', 'is checked when it is opened, and says that a page can lie', async () => {
    const url = pathToFileURL(project.path('all.html')).href;
    await withPage({ ...source, url }, async (verifier) => {
      await verifier.settled();
      expect(await verifier.report()).toContain('every entry of the signed log is here');
      expect(await verifier.text('#origin')).toContain('A page can lie');
      expect(await verifier.text('#trust')).toContain('Rests on the key inside this file alone.');
    });
    expect(statSync(project.path('all.html')).mode & 0o777).toBe(0o600);
  });

  promiseTest('page/embedded', 'is a file for colibri verify and for another copy of the page', async () => {
    const { stdout, status } = await project.colibri('verify', project.path('all.html'), '--key', key);
    expect(status).toBe(0);
    const page = file('all.html');
    await withPage(source, async (verifier) => {
      await verifier.give(page, key);
      expect(`${await verifier.report()}\n`).toBe(stdout);
      expect(await verifier.page.locator('#origin').isHidden()).toBe(true);
    });
    const [embedded = ''] = /<script type="text\/plain"[\s\S]*?<\/script>/.exec(page) ?? [];
    const forgeries = [
      page.replace(embedded, embedded + embedded),
      page.replace(embedded, ''),
      page.replace(embedded, embedded.replace(/>.{40}/, '>')),
      page.replace('id="bundle" data-view="claims">', '$&!'),
      page.slice(0, page.indexOf(embedded) + 300),
    ];
    const envelope = JSON.parse(file('envelope')) as { payload: string };
    const long = 'A'.repeat(8_000_000);
    forgeries.push(
      file('proof').replace(/^extra .*$/m, `extra ${long}`),
      file('envelope').replace(envelope.payload, `${long}${envelope.payload}`),
    );
    for (const forged of forgeries) {
      writeFileSync(project.path('forged.html'), forged);
      const run = await project.colibri('verify', project.path('forged.html'), '--key', key);
      expect(run.status, run.stderr).toBe(3);
    }
  });
});

describe('a large page', () => {
  promiseTest('page/embedded', 'with a bundle of some megabytes is judged in Node and when it is opened', async () => {
    const { text, key: trusted } = createBundle({
      size: 52,
      thoughtOf: () => randomBytes(450_000).toString('base64'),
    });
    const chunks = Readable.from([gzipSync(text)]) as AsyncIterable<Buffer>;
    await writeFile(project.path('large.html'), embedInPage(chunks, 'claims'));
    expect(statSync(project.path('large.html')).size).toBeGreaterThan(6_000_000);
    const { stdout, status } = await project.colibri('verify', project.path('large.html'), '--key', trusted);
    expect(status).not.toBe(2);
    await withPage({ ...source, url: pathToFileURL(project.path('large.html')).href }, async (verifier) => {
      await verifier.settled();
      expect(`${await verifier.report()}\n`).toBe(stdout);
    });
  });
});

describe('hostile content', () => {
  promiseTest('page/hostile', 'is shown as text and never becomes markup, a request or a reordered line', async () => {
    const titles = ['&lt;b&gt;', HOSTILE_TITLE, '\u2028\u0000\u200b\ufeff', 'x'.repeat(1_000_000), '{{constructor}}'];
    const options = { size: 30, titleOf: (task: number) => titles[task % titles.length] ?? '' };
    const { text, key: trusted } = createBundle({ ...options, thoughtOf: options.titleOf });
    await withPage(source, async (verifier) => {
      await verifier.give(text, trusted);
      expect(await verifier.report()).toBe(reportInNode(text, trusted));
      await verifier.openTab('board');
      expect(await verifier.text('#panel-board')).toContain('<img src=x onerror=alert(1)></script>');
      expect(await verifier.text('#panel-board')).toContain('\\u202eevil\\u202c');
      await verifier.openTab('timeline');
      await verifier.page.focus('[role=listbox]');
      for (let step = 0; step < 20; step += 1) await verifier.page.keyboard.press('ArrowDown');
      await verifier.openTab('tree');
      expect(await verifier.page.evaluate('document.querySelectorAll("img, iframe, a[href^=http]").length')).toBe(0);
      expect(await verifier.page.evaluate('document.scripts.length')).toBe(1);
      expect(await verifier.page.evaluate('/[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.innerText)')).toBe(
        false,
      );
    });
  });

  promiseTest('page/policy', 'the policy of the page stops markup, inline code and requests', async () => {
    expect(PAGE_TEXT).toContain("content=\"default-src 'none'; script-src 'sha256-");
    expect(PAGE_TEXT).not.toMatch(/unsafe-|innerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/);
    expect(PAGE_TEXT).not.toMatch(/\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts|\bimport\(/);
    const verifier = await VerifierPage.open(source);
    const attacks = [
      'document.body.innerHTML = "<b>x</b>"',
      'document.body.append(Object.assign(document.createElement("script"), { textContent: "globalThis.isOwned = true" }))',
      'fetch("https://example.com").catch((error) => { throw error; })',
      'new Image().src = "https://example.com/x.png"',
    ];
    for (const attack of attacks) await verifier.page.evaluate(`(async () => { ${attack} })().catch(() => undefined)`);
    expect(await verifier.page.evaluate('globalThis.isOwned')).toBeUndefined();
    expect(
      verifier.offenses.filter((text) => /Content Security Policy|TrustedHTML|TrustedScript/.test(text)).length,
    ).toBeGreaterThanOrEqual(3);
    await verifier.close();
  });
});

describe('a long log', () => {
  promiseTest('page/large', 'all are judged, and few of them are in the document', async () => {
    const { text, key: trusted } = createBundle({ size: 12_500 });
    await withPage(source, async (verifier) => {
      const { page } = verifier;
      await verifier.give(text, trusted);
      const report = await verifier.report();
      expect(report).toBe(reportInNode(text, trusted));
      expect(report).not.toContain('FAILS');
      for (const tab of ['board', 'timeline', 'tree']) await verifier.openTab(tab);
      await verifier.openTab('timeline');
      expect(await verifier.text('#timeline [role=status]')).toBe('10,000 records');
      await page.focus('[role=listbox]');
      await page.keyboard.press('End');
      expect(await page.getAttribute('.row[aria-selected=true]', 'aria-posinset')).toBe('10000');
      expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(3000);
      expect(await page.evaluate<number>(COUNT_ROWS)).toBeLessThan(60);
      await page.fill('#search', 'T-0777');
      expect(await verifier.text('#timeline [role=status]')).toBe('3 of 10,000 records');
    });
  });
});

/** The most rows in the document while the list runs from one end to the other. */
const COUNT_ROWS = `(async () => {
  const list = document.querySelector('[role=listbox]');
  let most = 0;
  for (let step = 0; step <= 20; step += 1) {
    list.scrollTop = (list.scrollHeight * step) / 20;
    await new Promise(requestAnimationFrame);
    most = Math.max(most, document.querySelectorAll('.row').length);
  }
  return most;
})()`;

describe('what a thought says', () => {
  promiseTest('evidence/exports', 'is marked as observed, said or contradicted in its details', () =>
    readEvidence({ source: { ...source, url: pathToFileURL(project.path('evidence.html')).href }, key, file }),
  );
});

describe('the page for everyone', () => {
  promiseTest('redact/shown', 'on the page, with who and when', async () => {
    await project.colibri('redact', '\u0398-0001', '--reason', 'names a person', '--as', 'ada', '--yes');
    await project.colibri('redact', 'A-0001', '--reason', 'names a person', '--as', 'ada', '--yes');
    await project.colibri('export', '--all', '--out', project.path('erased'));
    await readRedactions({ source, key, file });
  });

  promiseTest('page/keyboard', 'is operated by the keyboard alone', () => operateByKeyboard({ source, key, file }));

  promiseTest('page/accessible', 'has names, landmarks, live regions, contrast, and fits 360 pixels', () =>
    inspectAccess({ source, key, file }),
  );
});
