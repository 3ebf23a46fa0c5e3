import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { World } from '../world.ts';
import type { Lane } from './script.ts';

/** The variables of a lane's processes, whose clock may be set back. */
export function environmentOf({ env, folder }: World, { name, kind, clockBackMs }: Lane): Record<string, string> {
  const file = join(folder, 'clock.cjs');
  if (clockBackMs > 0) writeFileSync(file, CLOCK);
  return {
    ...env,
    ...(kind === 'agent' ? { COLIBRI_AGENT_ID: name } : {}),
    ...(clockBackMs === 0 ? {} : { NODE_OPTIONS: `--require ${file}`, CLOCK_BACK_MS: String(clockBackMs) }),
  };
}

/** A wall clock that is set back 300 ms after the process has started, as by an administrator. */
const CLOCK = `
  const TrueDate = Date;
  const now = () => TrueDate.now() - (performance.now() > 300 ? Number(process.env.CLOCK_BACK_MS) : 0);
  globalThis.Date = class extends TrueDate {
    constructor(...values) { values.length === 0 ? super(now()) : super(...values); }
    static now() { return now(); }
  };`;
