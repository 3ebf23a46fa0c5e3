import { readText } from '../disk.ts';
import { bodyOf, type Site, withPath } from '../plan.ts';
import { commandsOf, hookLine } from './hook-command.ts';
import { findHooks } from './hook-file.ts';
import { type HookTarget, targetPath } from './hook-targets.ts';
import { findPluginCommand } from './plan-hooks.ts';

/** The hooks of Colibri that a client would run. */
export interface InstalledHooks {
  readonly path: string;
  /** The different command lines, each with the first event that runs it. */
  readonly lines: readonly { readonly event: string; readonly line: string }[];
  /** Whether all of them equal what init would write. */
  readonly isOwn: boolean;
  /** Events that init would register and that no hook of Colibri gets. */
  readonly missing: readonly string[];
}

/** Undefined without a hook of Colibri. Throws an InitError if the file cannot be read. */
export function readInstalledHooks(target: HookTarget, { root, isGlobal }: Site): InstalledHooks | undefined {
  const path = targetPath(target, isGlobal);
  const text = readText(root, path, isGlobal);
  if (text === undefined) return undefined;
  if (target.lists === undefined) {
    const command = findPluginCommand(text);
    // A plug-in that init did not write can be anything.
    if (command === undefined) return { path, lines: [], isOwn: false, missing: [] };
    const line = hookLine(command, ['--client', 'opencode']).shell;
    return { path, lines: [{ event: 'session.idle', line }], isOwn: true, missing: [] };
  }
  const { lists } = target;
  const hooks = withPath(path, () => findHooks(bodyOf(text), lists));
  if (hooks.length === 0) return undefined;
  const lines = new Map<string, string>();
  for (const { event, item } of hooks)
    for (const line of commandsOf(item)) if (!lines.has(line)) lines.set(line, event);
  return {
    path,
    lines: [...lines].map(([line, event]) => ({ event, line })),
    isOwn: hooks.every(({ isOwn }) => isOwn),
    missing: lists.events.filter((event) => !hooks.some((hook) => hook.event === event)),
  };
}
