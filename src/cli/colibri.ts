#!/usr/bin/env node
import module from 'node:module';

// Newer versions of Node keep the compiled program on disk, which halves the next start.
const { enableCompileCache } = module as { enableCompileCache?: () => void };
enableCompileCache?.();

const args = process.argv.slice(2);
if (args.length === 0 || (args.length === 1 && args[0] === 'serve')) {
  // The way that clients take: without the parser of arguments that they do not give.
  const { serve } = await import('./serve.ts');
  await serve();
} else {
  const { run } = await import('./main.ts');
  await run(args);
}
