import { join } from 'node:path';
import { loadProgram } from './load-program.ts';

const args = process.argv.slice(2);
// Clients run a hook after every tool call: its small bundle starts without the program. Only the hooks that add
// trailers to a commit message read the ledger.
const NEED_PROGRAM = new Set(['-h', '--help', 'prepare-commit-msg', 'commit-msg']);
const isHook = args[0] === 'hook' && !args.some((argument) => NEED_PROGRAM.has(argument));
if (isHook) void runHook();
else void (load('program') as typeof import('./main.ts')).run(args);

async function runHook(): Promise<void> {
  const { run } = load('hook') as typeof import('../recorder/hook.ts');
  const filled = await run(args);
  if (filled !== undefined)
    await (load('ingest') as typeof import('../runtime/ingest-after-hook.ts')).ingestAfterHook(filled);
}

function load(bundle: string): unknown {
  return loadProgram(join(__dirname, `${bundle}.cjs`));
}
