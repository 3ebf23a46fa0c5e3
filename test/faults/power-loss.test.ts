import { describe, expect } from 'vitest';
import { CAN_TRACE } from '../support/disk/injection.ts';
import { cutPower, recordServers } from '../support/disk/power-loss.ts';
import { tempFolder } from '../support/folders.ts';
import { promiseTest } from '../support/promise-test.ts';
import { sizeOf } from '../support/properties.ts';
import type { RawClient } from '../support/raw-client.ts';

const SEED = 6962;

type Json = Record<string, unknown>;

/** Calls enough to fill the write-ahead log, so that SQLite checkpoints it, and a sealed session, which is signed. */
async function work(client: RawClient): Promise<void> {
  const task = await change(client, 'task_create', { title: 'Parse dates', status: 'todo' });
  const task_id = task['task_id'];
  const session = await change(client, 'audit_session_start', { task_id, auditor_id: 'auditor' });
  for (let number = 0; number < sizeOf({ test: 3, torture: 120 }); number += 1)
    await change(client, 'thought_record', { task_id, type: 'decision', content: 'why '.repeat(1000) });
  await change(client, 'merkle_finalize', { session_id: session['session_id'] });
}

async function change(client: RawClient, tool: string, input: Json): Promise<Json> {
  const answer = await client.call(tool, input);
  const data = answer['data'] as Json | undefined;
  if (data === undefined || data['ok'] === false) throw new Error(JSON.stringify(answer));
  return data;
}

describe('a power loss at any moment', () => {
  if (!CAN_TRACE) console.warn('strace is missing or may not trace: no power loss is simulated');
  for (const durability of CAN_TRACE ? (['full', 'relaxed'] as const) : [])
    promiseTest('fault/power', durability, async () => {
      const recording = await recordServers(tempFolder(), durability, [work, work]);
      const { images, answered, problems } = await cutPower(recording, SEED, sizeOf({ test: 5, torture: 150 }));
      expect(images).toBeGreaterThan(25);
      expect(answered).toBeGreaterThan(10);
      expect(problems).toEqual([]);
    });
});
