export interface ProgressBar {
  readonly update: (done: number, total: number) => void;
  readonly end: () => void;
}

const WIDTH = 30;

/** On stderr, and only where somebody watches. */
export function createProgressBar(label: string): ProgressBar {
  if (!process.stderr.isTTY) return { update: () => undefined, end: () => undefined };
  return {
    update: (done, total) => {
      const share = total === 0 ? 1 : done / total;
      const filled = Math.round(share * WIDTH);
      const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled);
      process.stderr.write(`\r${label} ${bar} ${Math.floor(share * 100)}%`);
    },
    end: () => {
      process.stderr.write('\r\u001B[2K');
    },
  };
}
