import { openStatusLine } from './print.ts';

export type UpdateProgress = (done: number, total: number) => void;

const WIDTH = 30;

/** Draws a progress bar on stderr during the work, if stderr is a terminal. */
export async function withProgress<Result>(
  label: string,
  work: (update: UpdateProgress) => Promise<Result>,
): Promise<Result> {
  const line = openStatusLine();
  const update: UpdateProgress = (done, total) => {
    const share = total === 0 ? 1 : done / total;
    const filled = Math.round(share * WIDTH);
    const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled);
    line?.show(`${label} ${bar} ${Math.floor(share * 100)}%`);
  };
  try {
    return await work(update);
  } finally {
    line?.clear();
  }
}
