import Database from 'better-sqlite3';

const probe = new Database(':memory:').prepare('select 1');
const proto = Object.getPrototypeOf(probe) as { run: (...a: unknown[]) => unknown; all: (...a: unknown[]) => unknown };
export const times = new Map<string, number[]>();
for (const m of ['run', 'all'] as const) {
  const original = proto[m];
  proto[m] = function (this: { source: string }, ...a: unknown[]) {
    const t = performance.now();
    try {
      return original.apply(this, a);
    } finally {
      const d = performance.now() - t;
      const k = this.source;
      let l = times.get(k);
      if (!l) times.set(k, (l = []));
      l.push(d);
    }
  };
}
