import type { WriteContext } from './context.ts';
import { type ColibriServerContext, type CreateServerOptions, createColibriServer } from './server/colibri-server.ts';
import { main, startIfMain } from './server/program.ts';
import type { ObjectSchema, OutputOf, Tool, ToolDescription } from './tool.ts';

export { ColibriError } from './errors.ts';
export type { AuditSink, ToolEnterEvent, ToolExitEvent } from './middleware/audit.ts';
export { createNoOpAuditSink } from './middleware/audit.ts';
export type { ColibriServerContext, CreateServerOptions };
export { main };

export type ColibriToolConfig<Input extends ObjectSchema = ObjectSchema> = Omit<ToolDescription<Input>, 'name'>;

export function createServer(options: CreateServerOptions = {}): ColibriServerContext {
  return createColibriServer(options);
}

/** Registers a tool; its calls go through the five stages. */
export function registerColibriTool<Input extends ObjectSchema>(
  server: ColibriServerContext,
  name: string,
  config: ColibriToolConfig<Input>,
  handler: (args: OutputOf<Input>, context: WriteContext) => unknown,
): void {
  server.registerColibriTool({ ...config, name, handle: handler as Tool['handle'] });
}

export function start(server: ColibriServerContext): Promise<void> {
  return server.start();
}

export function stop(server: ColibriServerContext): Promise<void> {
  return server.stop();
}

startIfMain(import.meta.url);
