import { expect } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { keeps } from '../support/keeps.ts';
import { describeContract, type Engine } from './engines.ts';

/** A server across a network needs a moment to see that a connection is gone; a file system does not. */
async function expectDead(engine: Engine, database: Database, processId: string): Promise<void> {
  if (engine.name === 'sqlite') expect(await database.isAlive(processId)).toBe(false);
  else await expect.poll(() => database.isAlive(processId), { timeout: 10_000 }).toBe(false);
}

describeContract('the presence of a process', (engine) => {
  keeps('store/alive', 'nobody knows a process that never enlisted', async () => {
    const database = await engine.open(await engine.newLocation());
    expect(await database.isAlive('nobody')).toBe(false);
  });

  keeps('store/alive', 'to itself and to others, until it closes the database', async () => {
    const location = await engine.newLocation();
    const [one, two] = [await engine.open(location), await engine.open(location)];
    await one.enlist('one');
    await two.enlist('two');
    expect(await one.isAlive('one')).toBe(true);
    expect(await two.isAlive('one')).toBe(true);
    await one.close();
    await expectDead(engine, two, 'one');
    expect(await two.isAlive('two')).toBe(true);
  });

  keeps('store/alive', 'across processes, and not a moment after kill -9', async () => {
    const location = await engine.newLocation();
    const database = await engine.open(location);
    const [killed, living] = [await engine.startProcess(location), await engine.startProcess(location)];
    await killed.run('enlist killed');
    await living.run('enlist living');
    expect(await database.isAlive('killed')).toBe(true);
    await killed.kill();
    await expectDead(engine, database, 'killed');
    expect(await database.isAlive('killed')).toBe(false);
    expect(await database.isAlive('living')).toBe(true);
    await living.run('close');
    await expectDead(engine, database, 'living');
  });

  keeps('store/alive', 'asking does not wake the dead, nor hurt the living who ask', async () => {
    const location = await engine.newLocation();
    const database = await engine.open(location);
    await database.enlist('asker');
    const other = await engine.startProcess(location);
    await other.run('enlist other');
    for (let time = 0; time < 3; time += 1) {
      expect(await database.isAlive('other')).toBe(true);
      expect(await database.isAlive('asker')).toBe(true);
    }
    await other.kill();
    await (await engine.startProcess(location)).run('enlist newcomer');
    await expectDead(engine, database, 'other');
    expect(await database.isAlive('asker')).toBe(true);
    expect(await database.isAlive('newcomer')).toBe(true);
  });

  keeps('store/alive', 'many may come and go while others come and look', async () => {
    const location = await engine.newLocation();
    await engine.open(location);
    const guests = [await engine.startProcess(location), await engine.startProcess(location)];
    const visits = Promise.all(guests.map((guest) => guest.run('come-and-go 60')));
    for (let time = 0; time < 60; time += 1) {
      const looker = await engine.open(location);
      await looker.enlist(`looker-${time}`);
      expect(await looker.isAlive(`looker-${time}`)).toBe(true);
      await looker.close();
    }
    await visits;
  });
});
