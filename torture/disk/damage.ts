import { copyFileSync, existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../command.ts';
import type { Outcome, Part, Round } from '../part.ts';
import type { Random } from '../random.ts';
import { ServerProcess } from '../server-process.ts';
import { createWorld, type World } from '../world.ts';

/** Damage to a ledger that no process has open, as a bad disk or a careless copy leaves it. */
export const DAMAGE: Part = {
  name: 'damage',
  says: 'cuts a closed SQLite ledger, flips its bits, or puts the write-ahead log of another file beside it',
  play,
};

const KINDS = ['bit flips', 'bit flips in the header', 'truncations', 'foreign logs'] as const;
type Kind = (typeof KINDS)[number];

const HEADER_BYTES = 100;

async function play({ size, random, folder, newPostgresUrl }: Round): Promise<Outcome> {
  const world = await createWorld({ engine: 'sqlite', durability: 'full', signs: false }, { folder, newPostgresUrl });
  const path = world.ledger.dbPath as string;
  // So many that the log of one change cannot hold a whole ledger.
  const tasks = size === 'short' ? 20 : random.between(20, 60);
  const foreignLog = await createForeignLog(world, path, tasks);
  await writeTasks(world, tasks);
  const original = `${path}.original`;
  copyFileSync(path, original);
  const before = await verify(world);
  const counts: Record<string, number> = { 'damaged ledgers': 0, 'found by verify': 0 };
  const problems: string[] = [];
  const script: string[] = [];
  for (let turn = 0; turn < (size === 'short' ? KINDS.length : 40); turn += 1) {
    const kind = size === 'short' ? (KINDS[turn] as Kind) : random.pick(KINDS);
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
    copyFileSync(original, path);
    const done = damage(kind, path, random, foreignLog);
    script.push(done);
    const after = await verify(world);
    counts['damaged ledgers'] = (counts['damaged ledgers'] ?? 0) + 1;
    counts[kind] = (counts[kind] ?? 0) + 1;
    if (!after.isWhole) counts['found by verify'] = (counts['found by verify'] ?? 0) + 1;
    else problems.push(...(await judgeWhole(world, before.root, after.root)).map((problem) => `${done}: ${problem}`));
  }
  return { counts, problems, script };
}

/** What verify calls whole must be the old log, and must take changes. */
async function judgeWhole(world: World, before: string, after: string): Promise<string[]> {
  if (after !== before) return ['verify calls another log whole'];
  for (const title of ['next', 'x'.repeat(200)]) {
    const { code, stderr } = await runCommand(world, ['add', title, '--description', title.repeat(20)]);
    if (code !== 0) return [`verify called it whole, and a change fails: ${stderr.slice(0, 500)}`];
  }
  return (await verify(world)).isWhole ? [] : ['it does not verify after the next changes'];
}

function damage(kind: Kind, path: string, random: Random, foreignLog: Buffer): string {
  const bytes = statSync(path).size;
  if (kind === 'foreign logs') {
    writeFileSync(`${path}-wal`, foreignLog, { mode: 0o600 });
    return `the log of another ledger, ${foreignLog.length} bytes`;
  }
  if (kind === 'truncations') {
    const length = random.below(bytes);
    truncateSync(path, length);
    return `cut to ${length} of ${bytes} bytes`;
  }
  const content = readFileSync(path);
  const flips = Array.from({ length: random.between(1, 3) }, () => {
    const [at, bit] = [random.below(kind === 'bit flips' ? bytes : HEADER_BYTES), random.below(8)];
    content[at] = (content[at] as number) ^ (1 << bit);
    return `${at}.${bit}`;
  });
  writeFileSync(path, content);
  return `flipped ${flips.join(', ')}`;
}

/** A log with the pages of one change, on top of another ledger with the same tasks. Leaves no ledger behind. */
async function createForeignLog(world: World, path: string, tasks: number): Promise<Buffer> {
  await writeTasks(world, tasks);
  const server = new ServerProcess({ program: world.program, cwd: world.folder, env: world.env });
  await server.initialize('other');
  await server.call('task_create', { title: 'of another ledger' });
  const log = readFileSync(`${path}-wal`);
  server.closeInput();
  await server.exit;
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
  return log;
}

async function writeTasks(world: World, tasks: number): Promise<void> {
  const server = new ServerProcess({ program: world.program, cwd: world.folder, env: world.env });
  await server.initialize('agent');
  for (let task = 0; task < tasks; task += 1)
    await server.call('task_create', { title: `task ${task}`, description: 'x'.repeat(50 * task) });
  server.closeInput();
  await server.exit;
  if (existsSync(join(world.folder, '.colibri', 'colibri.db-wal'))) throw new Error('the server left its log behind');
}

async function verify(world: World): Promise<{ readonly isWhole: boolean; readonly root: string }> {
  const { code, stdout } = await runCommand(world, ['verify', '--json']);
  const { root = '' } = code === 0 ? (JSON.parse(stdout) as { readonly root?: string }) : {};
  return { isWhole: code === 0, root };
}
