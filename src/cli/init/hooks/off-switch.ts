import { readText } from '../disk.ts';
import { jsoncFormat } from '../formats/jsonc-file.ts';
import { InitError } from '../init-error.ts';
import { bodyOf } from '../plan.ts';
import type { HookTarget } from './hook-targets.ts';

/** A setting by which a user tells a client to run no hooks. */
export interface OffSwitch {
  readonly keys: readonly string[];
  /** The setting in words; its value in the file can be any text. */
  readonly says: string;
  /** Undefined if the next file decides. */
  readonly isOff: (value: unknown) => boolean | undefined;
}

/** "PATH has SETTING", if the client runs no hook of Colibri. */
export function findOffSwitch(
  { offSwitches = [], settings = [], global }: HookTarget,
  { root, home }: { readonly root: string; readonly home: string | undefined },
): string | undefined {
  const files = [
    ...settings.map((path) => ({ path, label: path, folder: root })),
    ...(home === undefined ? [] : [{ path: global, label: `~/${global}`, folder: home }]),
  ];
  for (const { keys, says, isOff } of offSwitches)
    for (const { path, label, folder } of files) {
      const decision = isOff(readSetting(folder, path, keys));
      if (decision === true) return `${label} has ${says}`;
      if (decision === false) break;
    }
  return undefined;
}

/** A file that cannot be read is reported where hooks are written to it. */
function readSetting(folder: string, path: string, keys: readonly string[]): unknown {
  try {
    const text = readText(folder, path, true);
    return text === undefined ? undefined : jsoncFormat.find(bodyOf(text), keys);
  } catch (error) {
    if (error instanceof InitError) return undefined;
    throw error;
  }
}

export function switchOff(keys: readonly string[], off: boolean): OffSwitch {
  const says = `${keys.join('.')}: ${off}`;
  return { keys, says, isOff: (value) => (typeof value === 'boolean' ? value === off : undefined) };
}

/** A list of the names of hooks that are switched off; the client merges those of all files. */
export function switchOffByName(keys: readonly string[], name: string): OffSwitch {
  const says = `${name} in ${keys.join('.')}`;
  return { keys, says, isOff: (value) => (Array.isArray(value) && value.includes(name) ? true : undefined) };
}
