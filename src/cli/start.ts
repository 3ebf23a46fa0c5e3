import { join } from 'node:path';
import { loadProgram } from './load-program.ts';

const args = process.argv.slice(2);
// Clients run a hook after every tool call: its small bundle starts without the program. Only the hooks that add
// trailers to a commit message read the ledger.
const NEED_PROGRAM = new Set(['-h', '--help', 'prepare-commit-msg', 'commit-msg']);
const isHook = args[0] === 'hook' && !args.some((argument) => NEED_PROGRAM.has(argument));
const { run } = loadProgram(join(__dirname, isHook ? 'hook.cjs' : 'program.cjs')) as typeof import('./main.ts');
void run(args);
