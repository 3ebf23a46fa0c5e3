import { BadFormat, decodeBase64, formatVerifierKey, type VerifierKey } from '../src/integrity/index.ts';
import { button, byId, element, replaceContent, shortHash } from './dom.ts';
import { readFile, unpack } from './model/file.ts';
import { type Judgment, judge, parseKeys } from './model/judge.ts';
import { showFile } from './show-file.ts';
import { tallyText } from './views/claims.ts';
import { isView, type View } from './views/tabs.ts';

/** Wires the inputs of the page: a file and keys in, claims and views out. */

const status = byId('status');
const problem = byId('problem');
const result = byId('result');
const keys = byId('keys') as HTMLTextAreaElement;

interface Loaded {
  readonly name: string;
  readonly bytes: Uint8Array;
}

let loaded: Loaded | undefined;

/** Keys that came in a file. Who gave that file the page cannot know, so they never go into the field of the reader. */
let dropped: { readonly name: string; readonly keys: readonly VerifierKey[] } | undefined;

const embedded = document.getElementById('bundle');

/** Lets the browser paint the status before a long computation. */
const painted = () => new Promise((resolve) => setTimeout(resolve, 30));

/** Rises with every file and every judgment: the answer to an earlier question must not be shown. */
let latest = 0;

async function load(name: string, read: () => Promise<Uint8Array>, first: View = 'claims'): Promise<void> {
  latest += 1;
  const turn = latest;
  // What is read must not stand below the claims about an earlier file.
  loaded = undefined;
  result.hidden = true;
  document.title = 'Reading · Colibri verifier';
  replaceContent(status, `Reading ${name} …`);
  replaceContent(problem);
  replaceContent(byId('file-name'), element('strong', { class: 'data' }, name));
  byId('intro').hidden = true;
  try {
    const bytes = await read();
    if (turn !== latest) return;
    loaded = { name, bytes };
  } catch (error) {
    if (turn === latest) refuse(toMessage(error), NOTHING_KNOWN);
    return;
  }
  replaceContent(byId('file-name'), element('strong', { class: 'data' }, name), ` · ${sizeText(loaded.bytes.length)}`);
  await update(first);
}

/** Judges the file again. Without a view to open, the open one stays. */
async function update(first?: View): Promise<void> {
  if (loaded === undefined) return;
  const { bytes } = loaded;
  latest += 1;
  const turn = latest;
  replaceContent(status, 'Verifying …');
  await painted();
  if (turn !== latest) return;
  try {
    show(bytes, loaded.name, first);
  } catch (error) {
    refuse(toMessage(error), NOTHING_KNOWN);
  }
}

function show(bytes: Uint8Array, name: string, first: View | undefined): void {
  const begin = performance.now();
  const found = judgeWith(bytes);
  const seconds = ((performance.now() - begin) / 1000).toFixed(2);
  if (found.state === 'refused') {
    refuse(found.problem, found.advice);
    return;
  }
  replaceContent(problem);
  const { report, keySource } = found;
  const { claims } = report;
  // The numbers are on the page once more, with the claims.
  const tally = element('span', { class: 'visually-hidden' }, `${tallyText(claims)}.`);
  replaceContent(status, `Checked in ${seconds} s. `, tally);
  const failed = claims.filter(({ holds }) => holds === 'no');
  document.title = `${failed.length > 0 ? 'FAILS' : 'Checked'} · ${name} · Colibri verifier`;
  describeFailures(failed.map(({ says }) => says));
  describeTrust(found);
  describeLog(found);
  result.className = `rests-on-${keySource}`;
  result.hidden = false;
  document.body.classList.add('has-file');
  showFile(report, first);
}

function judgeWith(bytes: Uint8Array): Judgment {
  try {
    return judge(bytes, { typed: parseKeys(keys.value), dropped: dropped?.keys ?? [] });
  } catch (error) {
    if (!(error instanceof BadFormat)) throw error;
    return { state: 'refused', problem: error.message, advice: 'Paste the key as colibri key prints it.' };
  }
}

const NOTHING_KNOWN = 'Nothing is known about this file.';

/** Also of an error in the verifier itself: a reader who sees no verdict must not wait for one. */
function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function refuse(message: string, advice: string): void {
  result.hidden = true;
  document.title = 'Not judged · Colibri verifier';
  replaceContent(status);
  replaceContent(
    problem,
    element(
      'div',
      { class: 'banner is-bad' },
      element('strong', {}, 'This file cannot be judged: '),
      element('span', { class: 'data' }, `${message}.`),
      ` ${advice}`,
    ),
  );
}

/** Above every view: what they show of a forged file is forged. */
function describeFailures(failures: readonly string[]): void {
  const banner = byId('failures');
  banner.hidden = failures.length === 0;
  replaceContent(
    banner,
    element('strong', {}, 'Do not rely on this file.'),
    element('span', { class: 'data' }, `${failures.slice(0, 3).join('; ')}${failures.length > 3 ? '; …' : '.'}`),
  );
}

/** The difference that matters most: a key from elsewhere, or one that a forger could have made with the file. */
function describeTrust(found: Judgment & { state: 'judged' }): void {
  const trust = byId('trust');
  if (found.keySource === 'reader') {
    const hasFailed = found.report.claims.some(({ holds }) => holds === 'no');
    trust.className = hasFailed ? 'banner' : 'banner is-good';
    replaceContent(trust, element('strong', {}, 'Checked against the key that you gave.'));
    return;
  }
  const isDropped = found.keySource === 'dropped';
  const [says, why] = isDropped
    ? ['Rests on a key that came in a file.', 'A forger who sent you both made this key too.']
    : ['Rests on the key inside this file alone.', 'A forger who made the whole file made this key too.'];
  trust.className = 'banner is-warning is-loud';
  replaceContent(
    trust,
    element('strong', {}, says),
    isDropped ? element('span', { class: 'data' }, ` ${dropped?.name ?? ''}.`) : undefined,
    ` ${why} Ask the owner of the log for the key, and paste it above; until then, read “holds” as “holds if this key is theirs”.`,
    element('code', { class: 'whole' }, found.report.checkpoint.signers.map(formatVerifierKey).join(' ')),
  );
}

function describeLog({ report }: Judgment & { state: 'judged' }): void {
  const { origin, size, root } = report.checkpoint;
  const count = (value: number) => (value === 1 ? '1 entry' : `${value.toLocaleString('en')} entries`);
  const pairs: readonly (readonly [string, Node])[] = [
    ['Log', element('code', { class: 'data' }, origin)],
    ['Signed size', element('span', {}, count(size))],
    ['Proved here', element('span', {}, count(report.entries.length))],
    ['Root', shortHash(root)],
  ];
  replaceContent(
    byId('summary'),
    ...pairs.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
  );
}

function sizeText(bytes: number): string {
  return bytes < 100_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** A bundle and a file with a key may come together, in any order. */
async function take(files: readonly File[]): Promise<void> {
  for (const file of files) {
    const found = file.size < MAX_KEY_FILE ? await keysIn(file) : undefined;
    if (found === undefined) await load(file.name, () => readFile(file));
    else {
      dropped = { name: file.name, keys: found };
      describeDropped();
      await update();
    }
  }
}

const MAX_KEY_FILE = 10_000;

/** Undefined for every other file, also for one that cannot be read: then `load` says so. */
async function keysIn(file: File): Promise<readonly VerifierKey[] | undefined> {
  try {
    const found = parseKeys(await file.text());
    return found.length > 0 ? found : undefined;
  } catch {
    return undefined;
  }
}

/** Names the keys of a file below the field, where the reader would look for them. */
function describeDropped(): void {
  const note = byId('keys-dropped');
  note.hidden = dropped === undefined;
  if (dropped === undefined) return;
  const isUsed = keys.value.trim() === '';
  replaceContent(
    note,
    element('span', { class: 'data' }, dropped.name),
    isUsed
      ? ' has a key. It came in a file: paste it here if you know that it is the owner’s.'
      : ' has a key, too. It is not used: the one that you gave counts.',
    element('code', { class: 'whole' }, dropped.keys.map(formatVerifierKey).join(' ')),
    button('Forget it', forgetDropped, { class: 'quiet' }),
  );
}

function forgetDropped(): void {
  dropped = undefined;
  describeDropped();
  keys.focus();
  void update();
}

const input = byId('file') as HTMLInputElement;
input.addEventListener('change', () => void take([...(input.files ?? [])]));
let typing: ReturnType<typeof setTimeout> | undefined;
keys.addEventListener('input', () => {
  clearTimeout(typing);
  describeDropped();
  typing = setTimeout(() => void update(), 150);
});

const over = byId('over');
addEventListener('dragover', (event) => {
  event.preventDefault();
  over.classList.add('is-shown');
});
addEventListener('dragleave', (event) => {
  if (event.relatedTarget === null) over.classList.remove('is-shown');
});
addEventListener('drop', (event) => {
  event.preventDefault();
  over.classList.remove('is-shown');
  void take([...(event.dataTransfer?.files ?? [])]);
});

if (embedded !== null) {
  byId('origin').hidden = false;
  const view = embedded.dataset['view'];
  void load(
    'the bundle of this page',
    () => unpack(decodeBase64(embedded.textContent ?? '', 'the bundle')),
    isView(view) ? view : 'claims',
  );
}
