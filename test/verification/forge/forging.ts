import { canonicalize } from '../../../src/integrity/index.ts';
import type { ForgedEvent, Loose } from '../../support/forge/event.ts';

/** Where verification must report a broken rule. */
export interface BrokenPlace {
  readonly noun: 'entry' | 'call' | 'task event' | 'record' | 'task';
  readonly event: ForgedEvent;
}

/** A ledger that breaks one rule of docs/proof-format.md, with everything recomputed. */
export interface RuleBreaker {
  readonly name: string;
  readonly breaks: (ledger: Forging) => BrokenPlace;
}

/** The events of a ledger in the hands of a forger who knows how to recompute every hash. */
export class Forging {
  readonly events: ForgedEvent[];

  constructor(events: ForgedEvent[]) {
    this.events = events;
  }

  /** The nth event of a kind that has these fields. */
  find(kind: string, wanted: Loose = {}, nth = 0): ForgedEvent {
    const found = this.events.filter(
      ({ fields }) =>
        fields['kind'] === kind && Object.entries(wanted).every(([name, value]) => fields[name] === value),
    )[nth];
    if (found === undefined) throw new Error(`no ${kind} with ${JSON.stringify(wanted)}`);
    return found;
  }

  /** The same event a second time, as an object of its own. */
  repeat(event: ForgedEvent, changes: Loose = {}): ForgedEvent {
    return { ...event, fields: { ...event.fields, ...changes } };
  }

  insertAfter(event: ForgedEvent, added: ForgedEvent): ForgedEvent {
    this.events.splice(this.events.indexOf(event) + 1, 0, added);
    return added;
  }

  remove(event: ForgedEvent): void {
    this.events.splice(this.events.indexOf(event), 1);
  }

  /** Moves an event behind another. */
  moveAfter(event: ForgedEvent, other: ForgedEvent): void {
    this.remove(event);
    this.insertAfter(other, event);
  }

  placeOf({ noun, event }: BrokenPlace): string {
    if (noun === 'task') return String(event.fields['task_id']);
    if (noun !== 'record') return `${noun} ${this.events.indexOf(event)}`;
    return String(event.fields['thought_id'] ?? event.fields['session_id']);
  }
}

export const atEntry = (event: ForgedEvent): BrokenPlace => ({ noun: 'entry', event });
export const atCall = (event: ForgedEvent): BrokenPlace => ({ noun: 'call', event });
export const atTaskEvent = (event: ForgedEvent): BrokenPlace => ({ noun: 'task event', event });
/** The first of the tasks that wait for each other. */
export const inCycle = (event: ForgedEvent): BrokenPlace => ({ noun: 'task', event });
export const atRecord = (event: ForgedEvent): BrokenPlace => ({ noun: 'record', event });

/** Changes the final entry; the rows that repeat it follow. */
export function patched(event: ForgedEvent, change: Loose | ((entry: Loose) => Loose)): BrokenPlace {
  event.patch = typeof change === 'function' ? change : (entry) => ({ ...entry, ...change });
  return atEntry(event);
}

export function without(event: ForgedEvent, field: string): BrokenPlace {
  return patched(event, ({ [field]: _gone, ...rest }) => rest);
}

/** Changes fields of the JSON that the event holds a digest of. */
export function contentWith(event: ForgedEvent, changes: Loose): ForgedEvent {
  event.content = canonicalize({ ...(JSON.parse(event.content) as Loose), ...changes });
  return event;
}
