import { openSync, readSync } from 'node:fs';

/** Stays open: one for each process. */
let device: number | undefined;

/** From the device where there is one: loading node:crypto takes a hook longer than everything else that it does. */
export function randomHex(bytes: number): string {
  return readDevice(bytes) ?? process.getBuiltinModule('node:crypto').randomBytes(bytes).toString('hex');
}

function readDevice(bytes: number): string | undefined {
  if (process.platform === 'win32') return undefined;
  try {
    device ??= openSync('/dev/urandom', 'r');
    const buffer = Buffer.alloc(bytes);
    return readSync(device, buffer) === bytes ? buffer.toString('hex') : undefined;
  } catch {
    return undefined;
  }
}
