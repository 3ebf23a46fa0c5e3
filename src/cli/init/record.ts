import { createHash } from 'node:crypto';
import * as z from 'zod';
import { parseJson } from '../../integrity/index.ts';
import { readText } from './disk.ts';
import { InitError } from './init-error.ts';

/** Records what init wrote, so that undo reverts exactly that. Ignored by git, like the ledger. */
export const RECORD_PATH = '.colibri/init.json';
export const IGNORE_PATH = '.colibri/.gitignore';
export const IGNORE_TEXT = '*\n';

const path = z
  .string()
  .refine((text) => !text.startsWith('/') && !text.split(/[/\\]/).includes('..'), 'leads out of the project');
const edit = z.strictObject({ offset: z.int().min(0), length: z.int().min(0), content: z.string() });

const recordSchema = z.strictObject({
  v: z.literal(1),
  /** Configuration files: the digest of the new text, and the edits that revert it. */
  files: z.array(
    z.strictObject({
      path,
      client: z.string(),
      created: z.boolean(),
      /** How many enclosing objects were created for the entry. */
      nested: z.int().min(0),
      sha256: z.string(),
      undo: z.array(edit),
      /** The entry that --replace replaced. */
      replaced: z.strictObject({ entry: z.unknown() }).optional(),
    }),
  ),
  /** Files with instructions for agents, likewise. */
  instructions: z
    .array(z.strictObject({ path, created: z.boolean(), sha256: z.string(), undo: z.array(edit) }))
    .default([]),
  skills: z.array(z.strictObject({ path, sha256: z.string() })),
  /** Created folders, outermost first. */
  folders: z.array(path),
});

export type InitRecord = z.output<typeof recordSchema>;

export const NO_RECORD: InitRecord = { v: 1, files: [], instructions: [], skills: [], folders: [] };

export function readRecord(root: string): InitRecord {
  const text = readText(root, RECORD_PATH);
  if (text === undefined) return NO_RECORD;
  try {
    return recordSchema.parse(parseJson(text));
  } catch {
    throw new InitError(`${RECORD_PATH} is damaged`, {
      advice: 'delete it to continue (undo then leaves the skills in place)',
    });
  }
}

export function recordText(record: InitRecord): string {
  return `${JSON.stringify(record, undefined, 2)}\n`;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
