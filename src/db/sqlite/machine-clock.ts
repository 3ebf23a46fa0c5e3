import { readFileSync } from 'node:fs';
import type { Clock } from '../database.ts';

const BOOT_ID = '/proc/sys/kernel/random/boot_id';
const UUID_TEXT = /^[0-9a-f]{8}-[0-9a-f]{4}-/;

/**
 * The monotonic clock of this machine. It runs on while a process is stopped, ignores changes of the wall clock, and
 * stands still while a laptop sleeps, so that agents that slept with it do not look silent.
 */
export const machineClock: Clock = {
  id: clockId(readBootId()),
  nowMs: () => Number(process.hrtime.bigint() / 1_000_000n),
};

/**
 * One id for all processes since the machine started. Other platforms than Linux have no boot id, so it is the platform
 * name.
 */
export function clockId(bootId: string | undefined): string {
  return bootId !== undefined && UUID_TEXT.test(bootId) ? bootId.slice(0, 13).replace('-', '') : process.platform;
}

function readBootId(): string | undefined {
  try {
    return readFileSync(BOOT_ID, 'utf8');
  } catch {
    return undefined;
  }
}
