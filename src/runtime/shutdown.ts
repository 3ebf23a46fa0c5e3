import type { Log } from '../log.ts';

let hasGlobalHandlers = false;

/** Installed once per process, however many servers it starts. */
export function installGlobalHandlers(log: Log): void {
  if (hasGlobalHandlers) return;
  hasGlobalHandlers = true;
  for (const event of ['unhandledRejection', 'uncaughtException'] as const) {
    process.on(event, (error: unknown) => {
      log('error', event, { error });
      process.exit(1);
    });
  }
}

/** Some clients kill a server that takes longer than five seconds. */
const SHUTDOWN_MS = 4500;

/** Stops the server on a signal. Returns the function that does the same when the client disconnects. */
export function createShutdown(log: Log, stop: () => Promise<void>): (reason: string, exitCode?: () => number) => void {
  let isStopping = false;
  const shutDown = (reason: string, exitCode = () => 0): void => {
    if (isStopping) return;
    isStopping = true;
    log('info', 'stopping', { reason });
    // A call that does not end in time stays open in the log; the next server closes it as interrupted.
    setTimeout(() => process.exit(exitCode()), SHUTDOWN_MS);
    stop().then(
      () => process.exit(exitCode()),
      (error: unknown) => {
        log('error', 'stop failed', { error });
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => shutDown(signal));
  return shutDown;
}
