export interface Observed {
  readonly entry: Readonly<Record<string, unknown>>;
  readonly content: Readonly<Record<string, unknown>>;
}

export interface Step {
  readonly tool?: string;
  readonly input?: () => Readonly<Record<string, unknown>>;
  readonly command?: string;
  readonly exitCode?: number;
  readonly path?: string;
  readonly before?: string | undefined;
  readonly after?: string;
  readonly fails?: boolean;
}

export interface Driver {
  readonly id: string;
  readonly hidesExitCodes?: boolean;
  readonly hasNoSessionEnd?: boolean;
  readonly limits?: Readonly<Record<string, string>>;
}

export interface Evidence {
  readonly field: string;
  readonly value: string;
  readonly state: string;
}

export function checkActions(observed: readonly Observed[], steps: readonly Step[], driver: Driver): string[];
export function checkSession(observed: readonly Observed[], driver: Driver): string[];
export function checkCoverage(observed: readonly Observed[], steps: readonly Step[], driver: Driver): string[];
export function checkCommit(observed: readonly Observed[], head: string, driver: Driver): string[];
export function checkEvidence(evidence: readonly Evidence[] | undefined, head: string, driver: Driver): string[];
