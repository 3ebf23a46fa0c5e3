import { canonicalize } from '../integrity/canonical-json.ts';
import type { Texts } from './secrets/blank.ts';

/** What a person can read about an event. Undefined if the event has no such thing. */
export interface Content {
  readonly command?: string | undefined;
  readonly path?: string | undefined;
  readonly exit_code?: number | undefined;
  /** JSON of an input that is neither a command nor a file. */
  readonly input?: string | undefined;
  readonly output?: string | undefined;
  /** Why the event could not be read. */
  readonly defect?: string | undefined;
}

/** What comes first gets its share first; the output gets what is left. */
const FIELDS = ['defect', 'path', 'command', 'input', 'output'] as const;
const SHARES = { defect: 1, path: 1 / 4, command: 1 / 2, input: 1 / 2, output: 1 } as const;

type Field = (typeof FIELDS)[number];

/** A secret that begins before the cut is recognized as a whole if it ends within this many characters after it. */
const SECRET_MARGIN = 8192;

/** The texts that `writeContent` needs, still with their secrets. */
export function contentTexts(content: Content, maxLength: number): Texts<Field> {
  const texts = FIELDS.map((field) => [field, content[field]?.slice(0, maxLength + SECRET_MARGIN) ?? null]);
  return (maxLength === 0 ? NOTHING : Object.fromEntries(texts)) as Texts<Field>;
}

const NOTHING: Texts<Field> = { defect: null, path: null, command: null, input: null, output: null };

/** Canonical JSON with at most this many characters of text, and `cut` if there was more; null without content. */
export function writeContent(blanked: Texts<Field>, exitCode: number | undefined, maxLength: number): string | null {
  if (maxLength === 0) return null;
  const written: Record<string, string | number | true> = {};
  let left = maxLength;
  for (const field of FIELDS) {
    const text = blanked[field];
    if (text === null) continue;
    const share = Math.min(left, Math.floor(maxLength * SHARES[field]));
    // A slice can end in half of a surrogate pair, and a payload can contain one.
    written[field] = text.slice(0, share).toWellFormed();
    if (text.length > share) written['cut'] = true;
    left -= Math.min(share, text.length);
  }
  if (exitCode !== undefined) written['exit_code'] = exitCode;
  return Object.keys(written).length === 0 ? null : canonicalize(written);
}
