import { isDeepStrictEqual } from 'node:util';
import type { LaunchCommand } from '../clients.ts';
import { formatJson } from '../formats/json-text.ts';
import { addItem, findItems, jsoncFormat, removeItem } from '../formats/jsonc-file.ts';
import { applyEdits } from '../formats/text-edit.ts';
import { isColibriHook, isOwnHook } from './hook-command.ts';
import type { HookLists } from './hook-targets.ts';

/** A hook of Colibri in a file. */
export interface FoundHook {
  readonly event: string;
  readonly item: unknown;
  /** Whether it equals one that this program writes. */
  readonly isOwn: boolean;
  /** Whether the same item also runs other commands, and can therefore not be removed. */
  readonly isShared: boolean;
}

/** Every hook in the file that starts Colibri's recorder, also those that init did not write. */
export function findHooks(body: string, lists: HookLists): FoundHook[] {
  return listEvents(body).flatMap((event) =>
    findItems(body, [HOOKS, event])
      .filter((item) => isColibriHook(item))
      .map((item) => ({
        event,
        item,
        isOwn: isOwnHook(item, (command) => lists.item(event, command)),
        isShared: !isColibriHook(item, 'only'),
      })),
  );
}

/** The text with exactly these hooks of Colibri; those of others stay where they are. */
export function withHooks(body: string, lists: HookLists, command: LaunchCommand): string {
  const { header, events, item } = lists;
  const wanted = (event: string) => (events.includes(event) ? item(event, command) : undefined);
  if (body.trim() === '')
    return (
      body +
      newFile(
        header,
        events.map((event) => [event, [item(event, command)]]),
      )
    );
  const kept = withoutHooks(body, (hook) => !isDeepStrictEqual(hook.item, wanted(hook.event)), lists);
  return events.reduce((text, event) => {
    const hook = item(event, command);
    const isThere = findItems(text, [HOOKS, event]).some((found) => isDeepStrictEqual(found, hook));
    return isThere ? text : applyEdits(text, addItem(text, [HOOKS, event], hook));
  }, kept);
}

/** The text without the hooks of Colibri that are to be removed. */
export function withoutHooks(body: string, isRemoved: (hook: FoundHook) => boolean, lists: HookLists): string {
  return findHooks(body, lists)
    .filter((hook) => !hook.isShared && isRemoved(hook))
    .reduce((text, { event, item }) => {
      const index = findItems(text, [HOOKS, event]).findIndex((found) => isDeepStrictEqual(found, item));
      return applyEdits(text, removeItem(text, [HOOKS, event], index));
    }, body);
}

const HOOKS = 'hooks';

function listEvents(body: string): string[] {
  const hooks = jsoncFormat.find(body, [HOOKS]);
  // Gemini CLI also keeps settings there.
  return Object.entries(hooks ?? {}).flatMap(([event, items]) => (Array.isArray(items) ? [event] : []));
}

function newFile(header: object, hooks: readonly (readonly [string, unknown])[]): string {
  return `${formatJson({ ...header, [HOOKS]: Object.fromEntries(hooks) }, '  ')}\n`;
}
