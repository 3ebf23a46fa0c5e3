import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { tempFolder } from '../../../test/support/folders.ts';
import { promiseTest } from '../../../test/support/promise-test.ts';
import { killGroups } from './child-groups.ts';
import { shakeHands } from './handshake.ts';

describe('a command that never answers', () => {
  for (const [what, code] of [
    ['is silent', ''],
    ['ignores signals', 'process.on("SIGTERM", () => {});'],
    ['never ends its first line', 'process.stdout.write("{");'],
  ] as const)
    promiseTest('doctor/starts', `is ended after the time limit if it ${what}`, async () => {
      const folder = tempFolder();
      const program = `require('node:fs').writeFileSync('pid', String(process.pid)); ${code} setInterval(() => {}, 1000);`;
      const seen = await shakeHands([process.execPath, '-e', program], {}, folder, 5000);
      expect(seen).toEqual({ kind: 'failed', reason: 'no answer within 5 s' });
      const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
      while (isAlive(pid)) await setImmediate();
    });
});

describe('a command that repeats what it reads', () => {
  promiseTest('doctor/starts', 'has not answered the handshake', async () => {
    const program = 'process.stdin.pipe(process.stdout)';
    expect(await shakeHands([process.execPath, '-e', program], {}, tempFolder())).toEqual({
      kind: 'failed',
      reason: 'its first line is no answer to the handshake',
    });
  });
});

describe('a doctor that is interrupted', () => {
  promiseTest('doctor/starts', 'leaves no command behind', async () => {
    const folder = tempFolder();
    const program = `require('node:fs').writeFileSync('pid', String(process.pid)); setInterval(() => {}, 1000);`;
    const seen = shakeHands([process.execPath, '-e', program], {}, folder);
    while (!existsSync(join(folder, 'pid'))) await setImmediate();
    killGroups();
    expect(await seen).toEqual({ kind: 'failed', reason: 'it was ended by SIGKILL' });
  });
});

function isAlive(pid: number): boolean {
  try {
    // A zombie that its parent has not read yet counts as ended.
    return process.kill(pid, 0) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
