import { spawn } from 'node:child_process';
import type { Outcome, Part, Round } from './part.ts';

/** The lists of forgeries and faults that `npm test` samples. */
export const TESTS: Part = {
  name: 'tests',
  says: 'runs every test with all of its samples and larger sizes, each command in a process of its own',
  minMinutes: 120,
  play,
};

async function play({ log }: Round): Promise<Outcome> {
  const child = spawn(process.execPath, ['scripts/test/run.mjs', '--mode', 'torture'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
    for (const line of parts) log(line);
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const [, passed = 0, failed = 0] = /(\d+) passed, (\d+) failed/.exec(lines.slice(-5).join('\n'))?.map(Number) ?? [];
  return {
    counts: { 'tests passed': passed, 'tests failed': failed },
    problems: code === 0 ? [] : [`scripts/test/run.mjs --mode torture ended with exit code ${code}`],
  };
}
