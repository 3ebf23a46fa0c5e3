export class StartupTimeout extends Error {
  constructor(timeoutMs: number) {
    super(`startup timeout exceeded (${timeoutMs} ms); set COLIBRI_STARTUP_TIMEOUT_MS to allow more`);
    this.name = 'StartupTimeout';
  }
}

/** Rejects with `StartupTimeout` if `work` takes longer. */
export async function within<Result>(timeoutMs: number, work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new StartupTimeout(timeoutMs)), timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
