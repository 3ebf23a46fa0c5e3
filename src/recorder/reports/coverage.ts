import { MAX_MISSING } from '../../integrity/index.ts';
import { cleanIdentifier } from '../spooled-event.ts';
import type { Transcript } from '../transcripts/transcript.ts';
import type { RecordedCalls } from './recorded-calls.ts';

/** How many calls of a transcript are in the log. */
export interface Coverage {
  readonly seen: number;
  readonly recorded: number;
  readonly content: {
    readonly missing: readonly string[];
    readonly cut?: true;
    readonly defect?: string;
  };
}

/** Calls that have not ended, or that the client refused to run, count only if they are in the log. */
export function measureCoverage({ calls, defect }: Transcript, recorded: RecordedCalls): Coverage {
  const missing = calls.filter(({ id, isFinished, isRefused }) => isFinished && !isRefused && !recorded.has(id));
  const found = calls.filter(({ id }) => recorded.has(id)).length;
  return {
    seen: found + missing.length,
    recorded: found,
    content: {
      missing: missing.slice(0, MAX_MISSING).map(({ id }) => cleanIdentifier(id)),
      ...(missing.length > MAX_MISSING && { cut: true }),
      ...(defect !== null && { defect }),
    },
  };
}
