import { serve } from './commands/serve.ts';

export { startIfMain } from '../server/program.ts';
// dist/server.js exports the library from the bundle of the program.
export * from '../server.ts';

/** Clients pass no arguments. Their start does not wait for the argument parser to load. */
export async function run(args: readonly string[]): Promise<void> {
  // A client connects a pipe: a terminal on standard input means that a person typed the command.
  const isPerson = args.length === 0 && process.stdin.isTTY;
  if (!isPerson && (args.length === 0 || (args.length === 1 && args[0] === serve.name))) {
    await serve.run({}, undefined);
    return;
  }
  const { runCommand, chooseDefault } = await import('./commands.ts');
  await runCommand(isPerson ? chooseDefault() : args);
}
