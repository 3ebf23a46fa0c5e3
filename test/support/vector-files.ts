import { readFileSync } from 'node:fs';
import type { ConsistencyClaim, InclusionClaim } from '../../src/integrity/index.ts';

/** As they are read from the file: what is wrong on purpose may not even have the type that it claims. */
type InclusionVector = InclusionClaim & { readonly name: string; readonly accepted: boolean };
type ConsistencyVector = ConsistencyClaim & { readonly name: string; readonly accepted: boolean };

interface CanonicalVector {
  readonly name: string;
  readonly text: string;
  /** The canonical text of the value; null when there is none. */
  readonly canonical: string | null;
}

export function readInclusionVectors(): InclusionVector[] {
  return readJson('merkle-inclusion.json') as InclusionVector[];
}

export function readConsistencyVectors(): ConsistencyVector[] {
  return readJson('merkle-consistency.json') as ConsistencyVector[];
}

export function readCanonicalVectors(): CanonicalVector[] {
  return readJson('canonical-json.json') as CanonicalVector[];
}

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../vectors/${name}`, import.meta.url), 'utf8'));
}
