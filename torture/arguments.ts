import { parseArgs } from 'node:util';
import type { Part } from './part.ts';

/** EX_USAGE of sysexits.h. */
export const EXIT_USAGE = 64;

/** The command line is wrong; the message is one line for people. */
export class UsageError extends Error {}

export interface Arguments {
  readonly parts: readonly Part[];
  readonly seed: number;
  /** How long each part is played. */
  readonly partMinutes: number;
  readonly rounds: number;
  readonly isShort: boolean;
  readonly isReported: boolean;
  readonly isHelp: boolean;
}

const OPTIONS = {
  minutes: { type: 'string', default: '10' },
  each: { type: 'string' },
  seed: { type: 'string' },
  only: { type: 'string' },
  rounds: { type: 'string', default: 'Infinity' },
  short: { type: 'boolean', default: false },
  report: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

export function readArguments(args: readonly string[], all: readonly Part[], newSeed: number): Arguments {
  const { minutes, each, seed, only, rounds, short, report, help } = parse(args);
  const total = readAbove('--minutes', minutes, 0);
  const partMinutes = each === undefined ? undefined : readAbove('--each', each, 0);
  const parts = chooseParts(only, all, partMinutes === undefined ? total : partMinutes * all.length);
  return {
    parts,
    seed: seed === undefined ? newSeed : readSeed(seed),
    partMinutes: partMinutes ?? total / parts.length,
    rounds: readAbove('--rounds', rounds, 1),
    isShort: short,
    isReported: report,
    isHelp: help,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    const [line = ''] = String(error instanceof Error ? error.message : error).split('\n');
    throw new UsageError(line);
  }
}

function chooseParts(only: string | undefined, all: readonly Part[], minutes: number): readonly Part[] {
  if (only === undefined) return all.filter(({ minMinutes = 0 }) => minMinutes <= minutes);
  return only.split(',').map((name) => {
    const part = all.find((candidate) => candidate.name === name);
    if (part === undefined)
      throw new UsageError(`no part ${name}; --only takes ${all.map((known) => known.name).join(', ')}`);
    return part;
  });
}

function readAbove(option: string, text: string, least: number): number {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (number >= least) return number;
  throw new UsageError(`${option} takes a number of ${least} or more, not "${text}"`);
}

function readSeed(text: string): number {
  const seed = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(seed)) return seed;
  throw new UsageError(`--seed takes a whole number of 0 or more, not "${text}"`);
}
