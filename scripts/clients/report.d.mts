import type { Driver } from './check.mjs';

export interface Result {
  readonly driver: Driver & { readonly name: string; readonly package: string; readonly version: string };
  readonly checks: readonly { readonly name: string; readonly problems: readonly string[] }[];
  readonly problems: readonly string[];
}

export function table(results: readonly Result[], today: Date, colibri: string): string;
export function describeColibri(): string;
