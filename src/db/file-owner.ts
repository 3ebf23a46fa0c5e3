import type { Stats } from 'node:fs';

/** False where files have no owner that Node can name (Windows). */
export function isOwnedByOther({ uid }: Stats): boolean {
  const own = process.geteuid?.();
  return own !== undefined && uid !== own;
}
