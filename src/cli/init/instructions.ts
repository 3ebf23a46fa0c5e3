import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from './clients.ts';
import { type FileChange, readText } from './disk.ts';
import { applyEdits, invertEdits } from './formats/text-edit.ts';
import type { Site } from './plan.ts';
import { type InitRecord, sha256 } from './record.ts';

/** Clients hide the tools of a server behind a search, so these lines decide whether agents use them. */
export const INSTRUCTIONS = [
  'Work is tracked with Colibri (MCP server `colibri`).',
  '- Before you change anything, call `task_next_actions` and claim one task (`task_update` to `in_progress`). If there is no task, create one.',
  '- Open a session (`audit_session_start`) and record every decision when you make it (`thought_record`): what you chose, the alternatives, why.',
  '- Finish through `review` to `done`, then seal with `merkle_finalize`. Never work around a refusal: read its message.',
] as const;

type RecordedFile = InitRecord['instructions'][number];

export interface PlannedInstructions {
  readonly change: FileChange;
  readonly recorded: RecordedFile;
}

const SHARED = 'AGENTS.md';
const KNOWN = new Set([SHARED, 'CLAUDE.md', 'GEMINI.md', 'QWEN.md']);

/** Plans to append the lines to the files that these clients read, except where they are already. */
export function planInstructions({ root }: Site, clients: readonly Client[]): PlannedInstructions[] {
  const named = [...new Set(clients.map(({ instructions = SHARED }) => instructions))];
  const real = named.map((path) => realPath(join(root, path)));
  // One of them may be a link to another.
  const paths = named.filter((_path, index) => real.indexOf(real[index] ?? '') === index);
  return paths.flatMap((path) => {
    const before = readText(root, path);
    if (before !== undefined && (hasLines(before) || (paths.includes(SHARED) && importsShared(path, before))))
      return [];
    const text = before ?? '';
    const eol = text.includes('\r\n') ? '\r\n' : '\n';
    const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol;
    const edits = [{ offset: text.length, length: 0, content: `${gap}${INSTRUCTIONS.join(eol)}${eol}` }];
    const after = applyEdits(text, edits);
    const recorded = { path, created: before === undefined, sha256: sha256(after), undo: invertEdits(text, edits) };
    return [{ change: { path, before, after }, recorded }];
  });
}

/** Restores an unchanged file; removes only the lines from a file that was changed since. */
export function planInstructionsUndo(
  { root }: Site,
  { path, created, sha256: written, undo }: RecordedFile,
  notes: string[],
): FileChange | undefined {
  if (!KNOWN.has(path)) return undefined;
  const before = readText(root, path);
  if (before === undefined) return undefined;
  if (sha256(before) === written) return { path, before, after: created ? undefined : applyEdits(before, undo) };
  const lines = /\r?\n/.exec(before)?.[0] ?? '\n';
  const block = `${INSTRUCTIONS.join(lines)}${lines}`;
  if (before.split(block).length === 2) return { path, before, after: before.replace(block, '') };
  notes.push(`${path}: the lines about Colibri have been modified and are left unchanged`);
  return undefined;
}

function realPath(file: string): string {
  return existsSync(file) ? realpathSync(file) : file;
}

function hasLines(text: string): boolean {
  return text.replaceAll('\r\n', '\n').includes(INSTRUCTIONS.join('\n'));
}

/** "@AGENTS.md" in CLAUDE.md includes that file. */
function importsShared(path: string, text: string): boolean {
  return path !== SHARED && /^[ \t]*@(?:\.\/)?AGENTS\.md[ \t\r]*$/m.test(text);
}
