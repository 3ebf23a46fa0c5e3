import type { AuditSink, ToolEnterEvent, ToolExitEvent } from '../audit.ts';

const MAX_EVENTS = 2000;

/** Buffers the events of calls that are answered before the ledger is open. */
export class DeferredAudit implements AuditSink {
  #events: ({ readonly enter: ToolEnterEvent } | { readonly exit: ToolExitEvent })[] = [];

  get isFull(): boolean {
    return this.#events.length >= MAX_EVENTS;
  }

  enter(event: ToolEnterEvent): void {
    this.#events.push({ enter: event });
  }

  exit(event: ToolExitEvent): void {
    this.#events.push({ exit: event });
  }

  async replay(sink: AuditSink): Promise<void> {
    for (const event of this.#events) {
      if ('enter' in event) await sink.enter(event.enter);
      else await sink.exit(event.exit);
    }
    this.#events = [];
  }
}
