import { availableParallelism } from 'node:os';
import type { Results } from './results.ts';
import { BARS, MEMORY_BAR, STORAGE_BARS, TOKEN_BUDGET } from './workloads.ts';

/** One measured value and its limit. */
export interface Finding {
  readonly what: string;
  readonly value: number;
  readonly atMost?: number;
  readonly aim?: number;
  readonly verdict: '' | 'aim met' | 'met' | 'MISSED';
}

export function judge({ timings, definitions, memory, storage }: Results): Finding[] {
  const ratios = BARS.map(({ of, over, ...bar }) =>
    finding(`${of} / ${over}`, (timings.get(of)?.p50Us ?? Number.NaN) / (timings.get(over)?.p50Us ?? Number.NaN), bar),
  );
  const tokens = finding(`tokens of ${definitions.tools} tools`, definitions.tokens, { atMost: TOKEN_BUDGET });
  const stored = [
    finding('bytes of a task_create', storage.bytes, { atMost: STORAGE_BARS.bytes }),
    finding('pages written by its change', storage.changePages, { atMost: STORAGE_BARS.changePages }),
    finding('pages written by its enter entry', storage.enterPages, {}),
  ];
  const [early, late] = memory;
  if (early === undefined || late === undefined) return [...ratios, ...stored, tokens];
  const grown = finding(`memory after ${late.calls} calls / after ${early.calls}`, late.bytes / early.bytes, {
    atMost: MEMORY_BAR,
  });
  return [...ratios, ...stored, tokens, grown];
}

/** Markdown, for the terminal and for a page of bench/results. */
export function renderReport(results: Results): string {
  const { timings, definitions, memory, tools } = results;
  const sections = [
    `${availableParallelism()} cores, Node ${process.versions.node}, ${process.platform} ${process.arch}.`,
    `Calls through the official client over stdio, interleaved. "read" and "write" are ${tools}.`,
    table(
      ['case', 'p50 us', 'p95 us'],
      [...timings].map(([name, { p50Us, p95Us }]) => [name, p50Us.toFixed(0), p95Us.toFixed(0)]),
    ),
    table(
      ['compared', 'value', 'at most', 'aim', ''],
      judge(results).map(({ what, value, atMost, aim, verdict }) => [
        what,
        short(value),
        short(atMost),
        short(aim),
        verdict,
      ]),
    ),
    table(
      ['definitions', 'tokens'],
      [...Object.entries(definitions.tokensOfTool), ['all', definitions.tokens]].map((row) => row.map(String)),
    ),
    `tools/list is ${definitions.bytes} bytes.`,
    ...memory.map(({ calls, bytes }) => `Memory after ${calls} calls: ${(bytes / 2 ** 20).toFixed(1)} MiB.`),
  ];
  return `${sections.join('\n\n')}\n`;
}

function finding(what: string, value: number, bar: { atMost?: number; aim?: number }): Finding {
  const { atMost, aim } = bar;
  if (atMost === undefined) return { what, value, ...bar, verdict: '' };
  // Not `value > atMost`: a value that could not be measured (NaN) misses its limit.
  if (!(value <= atMost)) return { what, value, ...bar, verdict: 'MISSED' };
  return { what, value, ...bar, verdict: aim !== undefined && value <= aim ? 'aim met' : 'met' };
}

function short(value: number | undefined): string {
  if (value === undefined) return '';
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => pad(cells[column] ?? '', width, column)).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

function pad(cell: string, width: number, column: number): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}
