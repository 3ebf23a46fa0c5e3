import pc from 'picocolors';
import { checkClients } from './clients.ts';
import type { Finding } from './finding.ts';
import { checkLedger } from './ledger.ts';
import { checkMachine, checkSqlite } from './machine.ts';
import { checkPostgres } from './postgres.ts';
import { checkSettings } from './settings.ts';
import { checkSkills } from './skills.ts';

/** Returns the exit code. */
export async function doctor(json: boolean): Promise<number> {
  const findings = await examine();
  const isBroken = findings.some(({ status }) => status === 'fail');
  console.log(json ? JSON.stringify({ ok: !isBroken, checks: findings }) : findings.map(describe).join('\n'));
  return isBroken ? 1 : 0;
}

async function examine(): Promise<Finding[]> {
  const { config, findings } = checkSettings();
  const isFile = config?.databaseUrl === undefined;
  const check = isFile ? checkLedger : checkPostgres;
  return [
    ...checkMachine(),
    ...(isFile ? [await checkSqlite()] : []),
    ...findings,
    ...(config === undefined ? [] : await check(config)),
    ...checkClients(),
    ...(config === undefined ? [] : checkSkills(config)),
  ];
}

const WIDTH = 14;

function describe({ check, status, says, mend }: Finding): string {
  const colours = pc.createColors(process.stdout.isTTY && pc.isColorSupported);
  const colour = { ok: colours.green, warn: colours.yellow, fail: colours.red }[status];
  const line = `${colour(status.padEnd(5))}${check.padEnd(WIDTH)}${says}`;
  return mend === undefined ? line : `${line}\n${' '.repeat(5 + WIDTH)}${colours.dim('→')} ${mend}`;
}
