import type * as z from 'zod';
import type { CallContext, ReadContext, ReadLedger, WriteContext } from './context.ts';
import type { ColibriError, RuleCode } from './errors.ts';
import type { LedgerAccess } from './modes.ts';

/** Where a failed rule shows in the answer: at the top level (A), or inside `data` (B). */
export type ErrorPattern = 'A' | 'B';

export interface ToolDescription<Input extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: Input;
  /** Turns accepted spellings into the listed one, before the schema looks. */
  readonly normalize?: (raw: unknown) => unknown;
  /** Of the data of a success; the failure's half is the same for all. */
  readonly outputSchema?: z.ZodObject;
  readonly access?: LedgerAccess;
  /** True where a second identical call changes nothing more. */
  readonly idempotent?: boolean;
  readonly errorPattern?: ErrorPattern;
  /** The rules it can break, for docs/tools.md. */
  readonly codes?: readonly RuleCode[];
  /** Answers also while the runtime is still starting. */
  readonly early?: boolean;
}

export interface Tool extends ToolDescription {
  readonly prepare?: (input: unknown, read: ReadLedger) => unknown;
  readonly handle: (input: unknown, context: CallContext, prepared?: unknown) => unknown;
}

export type ContextOf<Access extends LedgerAccess | undefined> = Access extends 'none'
  ? CallContext
  : Access extends 'read'
    ? ReadContext
    : WriteContext;

export interface ToolSpec<Input extends z.ZodObject, Access extends LedgerAccess | undefined, Prepared>
  extends ToolDescription<Input> {
  readonly access?: Access & LedgerAccess;
  /** For tools that write: everything that can be computed before the write lock is taken. Others may write meanwhile. */
  prepare?(input: z.output<Input>, read: ReadLedger): Prepared | Promise<Prepared>;
  handle(input: z.output<Input>, context: ContextOf<Access>, prepared: Prepared): unknown;
}

/** Stage 2 parses with the same schema and stage 4 opens what `access` names, so the handler's types are true. */
export function defineTool<
  Input extends z.ZodObject,
  const Access extends LedgerAccess | undefined,
  Prepared = undefined,
>(spec: ToolSpec<Input, Access, Prepared>): Tool {
  return spec as unknown as Tool;
}

export type Outcome<Data = unknown> = { readonly ok: true; readonly data: Data } | Failure;

export interface Failure {
  readonly ok: false;
  /** The error that the client gets. */
  readonly error: ColibriError;
  /** The error as it was thrown, which may contain internals. */
  readonly thrown: Error;
}
