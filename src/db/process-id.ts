/** A version 4 UUID as `randomUUID` writes it. Lower case only: some file systems do not tell the cases apart. */
const PROCESS_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A stored process id is data from a file that anyone may have written, and on SQLite it becomes part of a path. */
export function isProcessId(value: unknown): value is string {
  return typeof value === 'string' && PROCESS_ID.test(value);
}

export function assertProcessId(value: string): void {
  if (!isProcessId(value)) throw new Error('a process id must be a lower-case version 4 UUID');
}
