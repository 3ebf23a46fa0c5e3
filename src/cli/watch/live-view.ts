import { openLiveScreen, print, printJson } from '../support/print.ts';
import type { ReadableLedger } from '../support/with-ledger.ts';
import { openKeys } from './keys.ts';
import { abortOnSignals, openLedgerChanges } from './ledger-changes.ts';

/** A view of the ledger that a command can keep current. */
export interface LiveView<Data> {
  readonly read: (database: ReadableLedger) => Promise<Data>;
  readonly render: (data: Data) => readonly string[];
  readonly json: boolean;
}

/**
 * Shows the view once or, with `watch`, again whenever it changes until Ctrl-C or q: in place on a terminal, else one
 * view below the other, or one JSON object per line.
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
  const stop = new AbortController();
  const interrupted = abortOnSignals(stop);
  const changes = openLedgerChanges(database, interrupted);
  const screen = json ? undefined : openLiveScreen();
  let keys: ReturnType<typeof openKeys> | undefined;
  // A ledger that cannot be read any more ends the command; what is still open would keep the process alive.
  try {
    let data = await read(database);
    let shown: string | undefined;
    const redraw = () => screen?.draw(render(data));
    screen?.onResize(redraw);
    keys = screen && openKeys({ quit: () => stop.abort(), resume: redraw });
    while (!interrupted.aborted) {
      const state = JSON.stringify(data, withoutTime);
      if (screen !== undefined) screen.draw(render(data));
      else if (state !== shown && json) printJson(data);
      else if (state !== shown) print(shown === undefined ? render(data) : ['', ...render(data)]);
      shown = state;
      await changes.next();
      if (!interrupted.aborted) data = await read(database);
    }
  } finally {
    stop.abort();
    keys?.close();
    changes.close();
  }
}

/** Silence grows all the time: a terminal shows it, but it is not reported as a change. */
function withoutTime(name: string, value: unknown): unknown {
  return name === 'silent_for_s' ? undefined : value;
}
