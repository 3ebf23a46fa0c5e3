import { cut, displayWidth } from '../views/text-width.ts';
import { openStatusLine } from './print.ts';

export type UpdateProgress = (done: number, total: number) => void;

const MAX_WIDTH = 30;
const MIN_WIDTH = 5;
/** " 100%" with the blank before the bar. A line that fills the terminal wraps, and is then not redrawn in place. */
const BESIDE_BAR = ' '.length + ' 100%'.length + 1;

/** Draws a progress bar on stderr during the work, if stderr is a terminal. */
export async function withProgress<Result>(
  label: string,
  work: (update: UpdateProgress) => Promise<Result>,
): Promise<Result> {
  const line = openStatusLine();
  const update: UpdateProgress = (done, total) => {
    const share = total === 0 ? 1 : done / total;
    line?.show(renderProgress(label, share, line.columns()));
  };
  try {
    return await work(update);
  } finally {
    line?.clear();
  }
}

/** Without room for a bar, only the percentage is left beside the label, which is cut if it is too wide as well. */
export function renderProgress(label: string, share: number, columns: number): string {
  const room = columns - displayWidth(label) - BESIDE_BAR;
  const width = Math.min(MAX_WIDTH, room);
  const percent = `${Math.floor(share * 100)}%`;
  if (width < MIN_WIDTH) return `${cut(label, columns - BESIDE_BAR)} ${percent}`;
  const filled = Math.round(share * width);
  return `${label} ${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${percent}`;
}
