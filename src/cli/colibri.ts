#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { loadProgram } from './load-program.ts';

const { run } = loadProgram(fileURLToPath(new URL('program.cjs', import.meta.url))) as typeof import('./main.ts');
await run(process.argv.slice(2));
