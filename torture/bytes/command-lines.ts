import { join } from 'node:path';
import { findRaw } from '../../test/support/hostile-text.ts';
import { startCommand } from '../command.ts';
import type { Random } from '../random.ts';
import type { World } from '../world.ts';
import { hostileText } from './values.ts';

/** Commands that end by themselves. Those that write elsewhere do so below the folder of the round. */
const COMMANDS = [
  'add',
  'note',
  'start',
  'block',
  'review',
  'done',
  'cancel',
  'edit',
  'call',
  'seal',
  'search',
  'list',
  'board',
  'show',
  'log',
  'next',
  'timeline',
  'agents',
  'verify',
  'export',
  'prove',
  'checkpoint',
  'backup',
  'doctor',
  'brief',
  'hook',
  'completion',
] as const;
const OPTIONS = [
  '--json',
  '--as',
  '--project',
  '--limit',
  '--type',
  '--session',
  '--task',
  '--since',
  '--all',
  '--out',
  '--priority',
  '-x',
  '--',
  '--help',
] as const;
/** Not LANG: some of its values crash Node itself, in ICU. */
const VARIABLES = [
  'COLIBRI_MODE',
  'COLIBRI_AGENT_ID',
  'COLIBRI_PROJECT',
  'COLIBRI_WORKFLOW',
  'COLIBRI_CLAIM_TTL',
  'COLIBRI_SKILLS_PATH',
  'COLIBRI_KEY_PATH',
  'COLIBRI_DURABILITY',
  'COLIBRI_RECORD',
  'COLIBRI_LOG_LEVEL',
  'COLIBRI_STARTUP_TIMEOUT_MS',
  'COLIBRI_DATABASE_URL',
  'AMS_OLD',
  'COLUMNS',
  'TZ',
  'FORCE_COLOR',
  'XDG_CONFIG_HOME',
] as const;

/** A command ends by itself, with a documented exit code, no stack trace, and no data that acts on a terminal. */
export async function playCommandLines(random: Random, world: World, count: number): Promise<string[]> {
  const problems: string[] = [];
  for (let number = 0; number < count; number += 1) {
    const args = writeArguments(random, world);
    const env = writeEnvironment(random);
    const { child, ran } = startCommand(world, args, { ...world.env, ...env }, hostileText(random));
    const timer = setTimeout(() => child.kill('SIGKILL'), HANG_MS);
    const { code, signal, stdout, stderr } = await ran;
    clearTimeout(timer);
    const defects = [
      ...(code !== null && EXIT_CODES.has(code) ? [] : [`ends with ${signal ?? code}`]),
      ...(/^\s+at .*[:(]\d+/m.test(stderr) ? ['prints a stack trace'] : []),
      ...findRaw(stdout, { hasColors: true }).map((raw) => `prints ${raw} on standard output`),
      ...findRaw(stderr, { hasColors: true }).map((raw) => `prints ${raw} on standard error`),
    ];
    if (defects.length > 0)
      problems.push(
        `colibri ${JSON.stringify(args)} with ${JSON.stringify(env)} ${defects.join(', ')}: ${stderr.slice(0, 500)}`,
      );
  }
  return problems;
}

const HANG_MS = 60_000;
/** Exit codes of the commands, and of sysexits.h for a server: unusable ledger, output or configuration. */
const EXIT_CODES: ReadonlySet<number> = new Set([0, 1, 2, 3, 64, 74, 75, 78]);

function writeArguments(random: Random, { folder }: World): string[] {
  const values = Array.from({ length: random.below(5) }, () => {
    if (random.isOneIn(3)) return random.pick(OPTIONS);
    if (random.isOneIn(8)) return join(folder, `file-${random.below(100)}`);
    // The system ends an argument at a NUL, and replaces what is no Unicode.
    return toArgument(random.isOneIn(3) ? random.pick(['T-0001', 'A-0001', '1', '{}']) : hostileText(random));
  });
  // A value that is a path must stay below the folder.
  return [random.isOneIn(20) ? toArgument(hostileText(random)) : random.pick(COMMANDS), ...values];
}

function writeEnvironment(random: Random): Record<string, string> {
  if (random.isOneIn(2)) return {};
  return Object.fromEntries(
    Array.from({ length: random.between(1, 2) }, () => [random.pick(VARIABLES), toArgument(hostileText(random))]),
  );
}

function toArgument(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '').slice(0, 5000);
}
