/** Rows by their key. A second row with the same key is reported: a plain map would hide one of the two. */
export function indexRows<Key, Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => Key,
  onDuplicate: (key: Key) => void,
): Map<Key, Row> {
  const byKey = new Map<Key, Row>();
  for (const row of rows) {
    const key = keyOf(row);
    if (byKey.has(key)) onDuplicate(key);
    else byKey.set(key, row);
  }
  return byKey;
}

export const STORED_TWICE = 'is stored more than once';
