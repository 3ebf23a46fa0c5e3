const TICK_MS = 100;

/**
 * Acts after this time, counted in turns of the event loop: a process that was suspended, or got no processor, reads
 * what waits in its pipes before its time is over. Returns what stops it.
 */
export function limitTime(limitMs: number, act: () => void): () => void {
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
    if (turns * TICK_MS < limitMs) return;
    clearInterval(timer);
    act();
  }, TICK_MS);
  return () => clearInterval(timer);
}
