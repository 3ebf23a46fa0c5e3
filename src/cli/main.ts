import { serve } from './commands/serve.ts';

/** Clients pass no arguments. Their start does not wait for the argument parser to load. */
export async function run(args: readonly string[]): Promise<void> {
  if (args.length === 0 || (args.length === 1 && args[0] === serve.name)) {
    await serve.run({}, undefined);
    return;
  }
  const { runCommand } = await import('./commands.ts');
  await runCommand(args);
}
