import { openStatusLine } from './print.ts';

export interface ProgressBar {
  readonly update: (done: number, total: number) => void;
  readonly end: () => void;
}

const WIDTH = 30;

/** On standard error, and only where that is a terminal. */
export function createProgressBar(label: string): ProgressBar {
  const line = openStatusLine();
  return {
    update: (done, total) => {
      const share = total === 0 ? 1 : done / total;
      const filled = Math.round(share * WIDTH);
      const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled);
      line?.show(`${label} ${bar} ${Math.floor(share * 100)}%`);
    },
    end: () => line?.clear(),
  };
}
