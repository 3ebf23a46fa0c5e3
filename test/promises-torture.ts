import type { Promised } from './promises-server.ts';

/** What holds while everything around the program breaks. */
export const TORTURE_PROMISES = {
  'torture/frame': { says: 'a run of torture can be repeated from its seed and hides no broken promise' },
  'torture/report': { says: 'the page about reliability has the figures of real runs and no others' },
  'torture/short': { says: 'a short round of every kind of damage breaks no promise' },
} as const satisfies Record<string, Promised>;
