#!/usr/bin/env node
import module from 'node:module';

// Newer versions of Node keep the compiled program on disk, which halves the next start.
const { enableCompileCache } = module as { enableCompileCache?: () => void };
enableCompileCache?.();

const { run } = await import('./main.ts');
await run(process.argv.slice(2));
