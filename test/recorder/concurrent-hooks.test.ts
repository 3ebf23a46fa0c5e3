import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { parseEntry } from '../../src/integrity/index.ts';
import { listSpool } from '../../src/recorder/spool.ts';
import { isReserve } from '../../src/recorder/spool-reserve.ts';
import { finished, inherited, withFile } from '../support/cli-project.ts';
import { promiseTest } from '../support/promise-test.ts';
import { RecordedProject, SILENT } from './recorded-project.ts';

interface Hooks {
  readonly hooks: Readonly<Record<string, readonly { readonly hooks: readonly { readonly command: string }[] }[]>>;
}

/** The command that init registered for the end of a tool. */
async function install(project: RecordedProject): Promise<string> {
  expect((await project.run('init', 'claude-code', '--record', '--no-instructions')).status).toBe(0);
  const { hooks } = JSON.parse(readFileSync(project.path('.claude/settings.local.json'), 'utf8')) as Hooks;
  return hooks['PostToolUse']?.[0]?.hooks[0]?.command ?? '';
}

/** What Claude Code really wrote after a command, as that of another call. */
function createPayload(callId: string, more: object = {}): string {
  const lines = readFileSync('test/recorder/payloads/claude-code-2.1.325.jsonl', 'utf8').trim().split('\n');
  const payloads = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const real = payloads.find((line) => line['hook_event_name'] === 'PostToolUse' && line['tool_name'] === 'Bash');
  return JSON.stringify({ ...real, tool_use_id: callId, ...more });
}

describe('concurrent hooks', () => {
  promiseTest(
    'recorder/waiting-events',
    'two clients report 20 calls, one server is killed: each call is there once',
    async () => {
      const project = new RecordedProject();
      const line = await install(project);
      const run = (input: string) => {
        const child = spawn('sh', ['-c', line], { cwd: project.folder, env: inherited() });
        child.stdin.end(input);
        return finished(child);
      };
      const killed = project.spawn([]);
      const survivor = await project.openAgent('survivor');
      await survivor.callTool({ name: 'task_create', arguments: { title: 'One' } });
      const ids = Array.from({ length: 20 }, (_, index) => `call-${index}`);
      // VS Code runs the hooks of Claude Code, and adds a time.
      const payloads = ids.flatMap((id) => [
        createPayload(id),
        createPayload(id, { timestamp: '2026-11-16T02:00:00.000Z' }),
      ]);
      const results = payloads.map((payload, index) => {
        if (index === 20) killed.kill('SIGKILL');
        return run(payload);
      });
      expect(await Promise.all(results)).toEqual(payloads.map(() => SILENT));
      await survivor.callTool({ name: 'task_list', arguments: {} });
      expect(listSpool(project.spool)).toEqual([]);
      expect(readdirSync(project.spool).filter(isReserve)).toHaveLength(16);
      const rows = await withFile(project.ledger, (reader) =>
        reader.query<{ entry: string }>('SELECT entry FROM ledger_entries JOIN observations USING (idx)'),
      );
      const recorded = rows.map(({ entry }) => parseEntry(entry)?.['call_id'] as string);
      expect(recorded.toSorted()).toEqual(ids.toSorted());
      await survivor.close();
      expect((await project.run('verify')).status).toBe(0);
    },
  );
});
