const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Runs the clean-up after the work, and also when a signal ends the program during it. */
export async function withCleanUp<Result>(cleanUp: () => void, work: () => Promise<Result>): Promise<Result> {
  const onSignal = (signal: NodeJS.Signals): void => {
    cleanUp();
    removeHandlers();
    process.kill(process.pid, signal);
  };
  const removeHandlers = (): void => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    return await work();
  } finally {
    removeHandlers();
    cleanUp();
  }
}
