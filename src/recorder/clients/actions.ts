import type { Action } from '../event.ts';
import { member, text } from './fields.ts';

/** The built-in tools of all clients, in lower case and without separators. */
const TOOLS: Readonly<Record<'shell' | 'edit' | 'read', ReadonlySet<string>>> = {
  shell: new Set(
    'bash shell powershell runshellcommand execcommand localshell localshellcall runinterminal runcommand writestdin unifiedexec terminal'.split(
      ' ',
    ),
  ),
  edit: new Set(
    'write edit multiedit notebookedit applypatch patch writefile replace create createfile strreplaceeditor strreplace editfile editfiles replacestringinfile multireplacestringinfile insertedit inserteditintofile editnotebook editnotebookfile delete deletefile writecode tabwrite'.split(
      ' ',
    ),
  ),
  read: new Set('read readfile readmanyfiles view notebookread readcode viewimage'.split(' ')),
};

export function findAction(tool: string): Action {
  const name = tool
    .slice(0, 64)
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '');
  for (const action of ['shell', 'edit', 'read'] as const) if (TOOLS[action].has(name)) return action;
  return 'other';
}

const PATCHED = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm;
const MAX_PATCH_LENGTH = 1_000_000;

/** The file that a tool edits or reads; several are separated by line breaks. */
export function findPath(input: unknown): string | undefined {
  const named = text(input, 'file_path', 'filePath', 'path', 'absolute_path', 'notebook_path', 'file');
  if (named !== null) return named;
  const files = member(input, 'files', 'paths');
  if (Array.isArray(files)) return files.filter((file) => typeof file === 'string').join('\n') || undefined;
  // Codex passes a patch in place of a file.
  const patch = typeof input === 'string' ? input : text(input, 'command', 'patch', 'input', 'patchText');
  if (patch === null || !patch.includes('*** ')) return undefined;
  return [...patch.slice(0, MAX_PATCH_LENGTH).matchAll(PATCHED)].map(([, file]) => file).join('\n') || undefined;
}
