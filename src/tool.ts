import type { CallContext, Preparation, ReadContext, WriteContext } from './context.ts';
import type { ColibriError, RuleCode } from './errors.ts';
import type { LedgerAccess } from './modes.ts';

/** Where the answer shows the error of a failed rule: at the top level (A), or inside `data` (B). */
export type ErrorPattern = 'A' | 'B';

/** An object schema of Zod 4. Structural, so that the types of the package need no copy of Zod. */
export interface ObjectSchema {
  readonly _zod: { readonly output: Readonly<Record<string, unknown>>; readonly def: { readonly type: 'object' } };
  safeParse(value: unknown): { readonly success: boolean };
}

export type OutputOf<Schema extends ObjectSchema> = Schema['_zod']['output'];

export interface ToolDescription<Input extends ObjectSchema = ObjectSchema> {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: Input;
  /** Renames input aliases before the schema parses the input. */
  readonly normalize?: (raw: unknown) => unknown;
  /** What is wrong with an alias that `normalize` could not rename; undefined for a key that is no alias. */
  readonly explainUnknown?: (key: string, raw: unknown) => string | undefined;
  /** Describes `data` of a success; failures have the same shape for every tool. */
  readonly outputSchema?: ObjectSchema;
  readonly access?: LedgerAccess;
  /** True if repeating a call has no further effect. */
  readonly idempotent?: boolean;
  readonly errorPattern?: ErrorPattern;
  /** The rule codes it can fail with, for docs/tools.md. */
  readonly codes?: readonly RuleCode[];
  /** Whether a call with this normalized input depends on everything that clients have reported. */
  readonly needsObserved?: (normalized: unknown) => boolean;
  /** True if calls need not wait until the server has booted. */
  readonly early?: boolean;
  /** True if it answers even when the call cannot be recorded. It must not write, and may run twice in one call. */
  readonly answersUnrecorded?: boolean;
}

export interface Tool extends ToolDescription {
  readonly prepare?: (input: unknown, preparation: Preparation) => unknown;
  readonly handle: (input: unknown, context: CallContext, prepared?: unknown) => unknown;
}

export type ContextOf<Access extends LedgerAccess | undefined> = Access extends 'none'
  ? CallContext
  : Access extends 'read'
    ? ReadContext
    : WriteContext;

export interface ToolSpec<Input extends ObjectSchema, Access extends LedgerAccess | undefined, Prepared>
  extends ToolDescription<Input> {
  readonly access?: Access & LedgerAccess;
  /** For tools that write: runs before the write lock is taken. Other processes may write in between. */
  prepare?(input: OutputOf<Input>, preparation: Preparation): Prepared | Promise<Prepared>;
  handle(input: OutputOf<Input>, context: ContextOf<Access>, prepared: Prepared): unknown;
}

/** Sound, because stage 2 parses with the same schema and stage 4 passes the context that `access` names. */
export function defineTool<
  Input extends ObjectSchema,
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
