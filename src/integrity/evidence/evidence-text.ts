import type { BundledEvidence } from './in-bundle.ts';

/** What was observed about one item of a thought. "passed" is never said: a command line is not a test result. */
export function evidenceText(item: Omit<BundledEvidence, 'thought_id'>): string {
  const { field, state, entry, exit_code, failed, isOpen } = item;
  if (isOpen) return `${state}: ${field === 'commit_sha' ? NO_REPORT : NO_OBSERVATIONS}`;
  if (entry === undefined) return field === 'commit_sha' && state === 'contradicted' ? `${state}: not recorded` : state;
  if (field === 'commit_sha') return `${state}: entry #${entry}`;
  const exit = exit_code === undefined ? (failed ? 'failed' : 'exit code unknown') : `exit ${exit_code}`;
  return `${state}: ${exit}, entry #${entry}`;
}

const NO_REPORT = 'this file does not hold a report of git about it';
const NO_OBSERVATIONS = 'this file does not hold the observations that could decide it';
