import { readFileSync } from 'node:fs';

/** The memory of a process in megabytes: now, and the most that it ever had. Linux only; 0 elsewhere. */
export function residentMemory(pid: number | undefined): { readonly nowMb: number; readonly peakMb: number } {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const read = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / 1024;
    return { nowMb: read('VmRSS'), peakMb: read('VmHWM') };
  } catch {
    return { nowMb: 0, peakMb: 0 };
  }
}
