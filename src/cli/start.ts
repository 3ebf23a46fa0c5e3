import { join } from 'node:path';
import { loadProgram } from './load-program.ts';

const { run } = loadProgram(join(__dirname, 'program.cjs')) as typeof import('./main.ts');
void run(process.argv.slice(2));
