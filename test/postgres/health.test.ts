import { describe, expect, onTestFinished } from 'vitest';
import { connectRaw } from '../support/clients/raw-client.ts';
import { tempFolder } from '../support/folders.ts';
import { Cluster } from '../support/postgres/cluster.ts';
import { openTestPostgres } from '../support/postgres/database.ts';
import { promiseTest } from '../support/promise-test.ts';
import { assertWhole } from '../support/test-server.ts';

describe('a PostgreSQL server that was killed', () => {
  promiseTest('fault/health', 'until it runs again', async () => {
    const cluster = await Cluster.create();
    onTestFinished(() => cluster.stop());
    // Short, so that the calls below do not wait long for a server that is gone.
    const url = `${cluster.url()}?lock_timeout=300`;
    const client = await connectRaw({ cwd: tempFolder(), env: { COLIBRI_DATABASE_URL: url } });
    expect(await client.data('server_health')).toMatchObject({ status: 'ok', db: { engine: 'postgres' } });
    await cluster.kill();
    expect(await client.data('server_health')).toMatchObject({
      status: 'degraded',
      problems: [
        { code: 'CALL_NOT_RECORDED', message: expect.stringMatching(/^this call could not be recorded: /) },
        { code: 'LEDGER_UNREADABLE', message: expect.any(String) },
      ],
      db: { open: false, engine: 'postgres' },
      tools: { registered: 14 },
    });
    expect(await client.data('server_ping')).toMatchObject({ mode: 'FULL', recorded: false });
    expect(await client.call('task_create', { title: 'never' })).toMatchObject({
      error: { code: 'AUDIT_ENTER_FAILED', message: expect.stringContaining('call server_health') },
    });
    await cluster.restart();
    expect(await client.data('server_health')).toMatchObject({ status: 'ok', problems: [], db: { open: true } });
    expect(await client.call('task_create', { title: 'kept' })).toMatchObject({ data: { task_id: 'T-0001' } });
    expect(await client.end()).toEqual({ code: 0, signal: null });
    await assertWhole(await openTestPostgres({ url: cluster.url() }));
  });
});
