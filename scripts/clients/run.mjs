// `npm run clients [-- claude-code codex … --write --keep]`: installs real clients from npm, drives each through one
// session with a scripted model on loopback, as `colibri init --record` has configured it, and checks the ledger. No
// account, no network except for npm, nothing of the user's home folder. Not part of `npm test`.
import { setUp } from '../setup.mjs';
import { claudeCode } from './drivers/claude-code.mjs';
import { codex } from './drivers/codex.mjs';
import { copilotCli } from './drivers/copilot-cli.mjs';
import { geminiCli } from './drivers/gemini-cli.mjs';
import { opencode } from './drivers/opencode.mjs';
import { printResult, writeTable } from './report.mjs';

const DRIVERS = [claudeCode, codex, geminiCli, copilotCli, opencode];

const initNames = DRIVERS.map(({ initName }) => initName);

const args = process.argv.slice(2);
const flags = new Set(args.filter((arg) => arg.startsWith('--')));
const names = args.filter((arg) => !arg.startsWith('--'));
const wrong = [
  ...[...flags].filter((flag) => !['--write', '--keep'].includes(flag)),
  ...names.filter((name) => !DRIVERS.some(({ id }) => id === name)),
  ...(flags.has('--write') && names.length > 0 ? ['--write together with the name of a client'] : []),
];
if (wrong.length > 0) {
  const known = DRIVERS.map(({ id }) => id).join(', ');
  console.error(`clients: cannot use ${wrong.join(', ')}; pass --write, --keep or any of ${known}`);
  process.exit(64);
}

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
setUp();
const [{ buildAll }, { playSession }] = await Promise.all([import('../build/build.mjs'), import('./play.mjs')]);
await buildAll();
const results = [];
for (const driver of DRIVERS) {
  if (names.length > 0 && !names.includes(driver.id)) continue;
  const result = await playSession(driver, { keeps: flags.has('--keep'), initNames });
  printResult(result);
  results.push(result);
}
if (flags.has('--write')) writeTable(results);
const failed = results.filter(({ problems }) => problems.length > 0);
console.error(`clients: ${results.length - failed.length} of ${results.length} recorded as promised`);
process.exitCode = failed.length === 0 ? 0 : 1;
