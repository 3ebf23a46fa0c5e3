import type { Tool } from './tool.ts';

export const MODES = ['FULL', 'READONLY', 'TEST', 'MINIMAL'] as const;
export type Mode = (typeof MODES)[number];

/** How a tool uses the ledger. A tool that does not declare it counts as a writer, which fails closed. */
export type LedgerAccess = 'none' | 'read' | 'write';

const ADMITTED: Readonly<Record<Mode, readonly LedgerAccess[]>> = {
  FULL: ['none', 'read', 'write'],
  READONLY: ['none', 'read'],
  TEST: ['none', 'read', 'write'],
  MINIMAL: ['none'],
};

export function isAdmitted(mode: Mode, tool: Pick<Tool, 'access'>): boolean {
  return ADMITTED[mode].includes(accessOf(tool));
}

/** Without 'none', which names no access. */
export function admittedAccess(mode: Mode): readonly LedgerAccess[] {
  return ADMITTED[mode].filter((access) => access !== 'none');
}

export function accessOf(tool: Pick<Tool, 'access'>): LedgerAccess {
  return tool.access ?? 'write';
}

export function opensDatabase(mode: Mode): boolean {
  return mode !== 'MINIMAL';
}

export function writesLedger(mode: Mode): boolean {
  return ADMITTED[mode].includes('write');
}
