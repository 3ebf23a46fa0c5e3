import { expect } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { ILL_FORMED_PROCESS_IDS, processIdOf } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { describeContract, type Engine } from './engines.ts';

/** A server across a network needs a moment to see that a connection is gone; a file system does not. */
async function expectDead(engine: Engine, database: Database, processId: string): Promise<void> {
  if (engine.name === 'sqlite') expect(await database.isAlive(processId)).toBe(false);
  else await expect.poll(() => database.isAlive(processId), { timeout: 10_000 }).toBe(false);
}

describeContract('the presence of a process', (engine) => {
  promiseTest('store/alive', 'a process that never enlisted is not alive', async () => {
    const database = await engine.open(await engine.newLocation());
    expect(await database.isAlive(processIdOf('absent'))).toBe(false);
  });

  promiseTest('store/alive', 'a process is alive to itself and to others until it closes the database', async () => {
    const location = await engine.newLocation();
    const [one, two] = [await engine.open(location), await engine.open(location)];
    await one.enlist(processIdOf('one'));
    await two.enlist(processIdOf('two'));
    expect(await one.isAlive(processIdOf('one'))).toBe(true);
    expect(await two.isAlive(processIdOf('one'))).toBe(true);
    await one.close();
    await expectDead(engine, two, processIdOf('one'));
    expect(await two.isAlive(processIdOf('two'))).toBe(true);
  });

  promiseTest('store/alive', 'a process is alive to other processes until it is killed', async () => {
    const location = await engine.newLocation();
    const database = await engine.open(location);
    const [killed, living] = [await engine.startProcess(location), await engine.startProcess(location)];
    await killed.run(`enlist ${processIdOf('killed')}`);
    await living.run(`enlist ${processIdOf('living')}`);
    expect(await database.isAlive(processIdOf('killed'))).toBe(true);
    await killed.kill();
    await expectDead(engine, database, processIdOf('killed'));
    expect(await database.isAlive(processIdOf('killed'))).toBe(false);
    expect(await database.isAlive(processIdOf('living'))).toBe(true);
    await living.run('close');
    await expectDead(engine, database, processIdOf('living'));
  });

  promiseTest('store/alive', 'checking a dead process changes nothing', async () => {
    const location = await engine.newLocation();
    const database = await engine.open(location);
    await database.enlist(processIdOf('asker'));
    const other = await engine.startProcess(location);
    await other.run(`enlist ${processIdOf('other')}`);
    for (let time = 0; time < 3; time += 1) {
      expect(await database.isAlive(processIdOf('other'))).toBe(true);
      expect(await database.isAlive(processIdOf('asker'))).toBe(true);
    }
    await other.kill();
    await (await engine.startProcess(location)).run(`enlist ${processIdOf('newcomer')}`);
    await expectDead(engine, database, processIdOf('other'));
    expect(await database.isAlive(processIdOf('asker'))).toBe(true);
    expect(await database.isAlive(processIdOf('newcomer'))).toBe(true);
  });

  for (const [name, id] of ILL_FORMED_PROCESS_IDS) {
    promiseTest('store/process-ids', `${name} is not alive and cannot enlist`, async () => {
      const database = await engine.open(await engine.newLocation());
      expect(await database.isAlive(id)).toBe(false);
      await expect(database.enlist(id)).rejects.toThrow('process id');
      await database.enlist(processIdOf('well formed'));
      expect(await database.isAlive(processIdOf('well formed'))).toBe(true);
    });
  }

  promiseTest('store/alive', 'processes enlist, leave and check concurrently', async () => {
    const location = await engine.newLocation();
    await engine.open(location);
    const guests = [await engine.startProcess(location), await engine.startProcess(location)];
    const visits = Promise.all(guests.map((guest) => guest.run('come-and-go 60')));
    for (let time = 0; time < 60; time += 1) {
      const looker = await engine.open(location);
      await looker.enlist(processIdOf(`looker-${time}`));
      expect(await looker.isAlive(processIdOf(`looker-${time}`))).toBe(true);
      await looker.close();
    }
    await visits;
  });
});
