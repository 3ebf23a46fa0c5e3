import { serve } from './commands/serve.ts';

/** Clients give no arguments, and their way in does not wait for a parser of them. */
export async function run(args: readonly string[]): Promise<void> {
  if (args.length === 0 || (args.length === 1 && args[0] === 'serve')) return serve();
  const { runCommand } = await import('./commands.ts');
  await runCommand(args);
}
