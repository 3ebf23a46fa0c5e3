import { createHash } from 'node:crypto';
import * as z from 'zod';
import { parseJson } from '../../integrity/index.ts';
import { readText } from './disk.ts';
import { Refusal } from './refusal.ts';

/** Where init writes down what it did, so that undo can take back exactly that; out of the repository like the ledger. */
export const RECORD_PATH = '.colibri/init.json';
export const IGNORE_PATH = '.colibri/.gitignore';
export const IGNORE_TEXT = '*\n';

const path = z
  .string()
  .refine((text) => !text.startsWith('/') && !text.split(/[/\\]/).includes('..'), 'leaves the project');
const edit = z.strictObject({ offset: z.int().min(0), length: z.int().min(0), content: z.string() });

const recordSchema = z.strictObject({
  v: z.literal(1),
  /** Configuration files: the text after, and the way back from it. */
  files: z.array(
    z.strictObject({
      path,
      client: z.string(),
      created: z.boolean(),
      /** How many objects around the entry were made for it. */
      nested: z.int().min(0),
      sha256: z.string(),
      undo: z.array(edit),
    }),
  ),
  skills: z.array(z.strictObject({ path, sha256: z.string() })),
  /** Folders that were made, outermost first. */
  folders: z.array(path),
});

export type InitRecord = z.output<typeof recordSchema>;

export const NO_RECORD: InitRecord = { v: 1, files: [], skills: [], folders: [] };

export function readRecord(root: string): InitRecord {
  const text = readText(root, RECORD_PATH);
  if (text === undefined) return NO_RECORD;
  try {
    return recordSchema.parse(parseJson(text));
  } catch {
    throw new Refusal(`${RECORD_PATH} is damaged; delete it to go on (undo will then leave the skills where they are)`);
  }
}

export function recordText(record: InitRecord): string {
  return `${JSON.stringify(record, undefined, 2)}\n`;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
