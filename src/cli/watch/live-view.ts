import { drawScreen, print, printJson } from '../support/print.ts';
import type { ReadableLedger } from '../support/with-ledger.ts';
import { abortOnSignals, openLedgerChanges } from './ledger-changes.ts';

/** A view of the ledger that a command can keep current. */
export interface LiveView<Data> {
  readonly read: (database: ReadableLedger) => Promise<Data>;
  readonly render: (data: Data) => readonly string[];
  readonly json: boolean;
}

/**
 * Shows the view once or, with `watch`, again whenever it changes until Ctrl-C: in place on a terminal, else one view below
 * the other, or one JSON object per line.
 */
export async function showView<Data>(
  database: ReadableLedger,
  { read, render, json }: LiveView<Data>,
  watch: boolean,
): Promise<void> {
  if (!watch) {
    const data = await read(database);
    return json ? printJson(data) : print(render(data));
  }
  const interrupted = abortOnSignals();
  const changes = openLedgerChanges(database, interrupted);
  let shown: string | undefined;
  while (!interrupted.aborted) {
    const data = await read(database);
    const lines = render(data);
    const state = JSON.stringify(data, withoutSilence);
    if (json && state !== shown) printJson(data);
    else if (!json && !drawScreen(lines) && state !== shown) print(shown === undefined ? lines : ['', ...lines]);
    shown = state;
    await changes.next();
  }
  changes.close();
}

/** Silence grows all the time: a terminal shows it, but it is no change to report. */
function withoutSilence(name: string, value: unknown): unknown {
  return name === 'silent_for_s' ? undefined : value;
}
