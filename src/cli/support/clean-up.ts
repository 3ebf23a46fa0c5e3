const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Cleans up when the work is over, and also when somebody ends the program in the middle of it. */
export async function withCleanUp<Result>(cleanUp: () => void, work: () => Promise<Result>): Promise<Result> {
  const onSignal = (signal: NodeJS.Signals): void => {
    cleanUp();
    forget();
    process.kill(process.pid, signal);
  };
  const forget = (): void => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    return await work();
  } finally {
    forget();
    cleanUp();
  }
}
