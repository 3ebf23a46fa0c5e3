import type { Program } from '../support/stdio-agent.ts';
import type { Measured, Script } from './run.ts';

export interface Case {
  readonly name: string;
  /** A program with a store of its own. */
  readonly program: () => Promise<Program>;
  readonly script: Script;
}

export interface Row extends Measured {
  readonly name: string;
  readonly servers: number;
}

interface Bar {
  readonly servers: number;
  readonly says: string;
  /** One server of the same case, and the same number of servers of the peer, come from the same run. */
  readonly ratio: (team: Row, one: Row, peer: Row | undefined) => number | undefined;
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly only?: string;
}

const rateOfOne = (team: Row, one: Row) => team.perSecond / one.perSecond;

export const BARS: readonly Bar[] = [
  { servers: 4, says: 'rate of one server', ratio: rateOfOne, atLeast: 0.9 },
  { servers: 12, says: 'rate of one server', ratio: rateOfOne, atLeast: 0.7 },
  { servers: 32, says: 'rate of one server', ratio: rateOfOne, atLeast: 0.5 },
  {
    servers: 12,
    says: 'CPU per call of one server',
    ratio: (team, one) => team.cpuMsPerCall / one.cpuMsPerCall,
    atMost: 3,
  },
  ...[4, 12, 32].map((servers) => ({
    servers,
    says: 'slowest server, of the mean',
    ratio: ({ slowest }: Row) => slowest,
    atLeast: 0.5,
  })),
  {
    servers: 12,
    says: 'rate of the peer',
    ratio: (team, _one, peer) => (peer === undefined ? undefined : team.perSecond / peer.perSecond),
    atLeast: 0.5,
    only: 'relaxed',
  },
];

export interface Finding {
  readonly name: string;
  readonly servers: number;
  readonly says: string;
  readonly value: number;
  readonly bar: string;
  readonly isMet: boolean;
}

/** The peer is what others are compared with; it has no bars of its own. */
export function judge(rows: readonly Row[], bars: readonly Bar[]): Finding[] {
  const findings: Finding[] = [];
  const find = (name: string, servers: number) => rows.find((row) => row.name === name && row.servers === servers);
  for (const team of rows) {
    const one = find(team.name, 1);
    if (team.name === 'peer' || one === undefined) continue;
    for (const { servers, says, ratio, atLeast, atMost, only } of bars) {
      if (servers !== team.servers || (only ?? team.name) !== team.name) continue;
      const value = ratio(team, one, find('peer', servers));
      if (value === undefined) continue;
      const isMet = value >= (atLeast ?? Number.NEGATIVE_INFINITY) && value <= (atMost ?? Number.POSITIVE_INFINITY);
      const bar = atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`;
      findings.push({ name: team.name, servers, says, value, bar, isMet });
    }
  }
  return findings;
}

export function renderCases(rows: readonly Row[], findings: readonly Finding[]): string {
  const measured = rows.map(
    ({ name, servers, perSecond, cpuMsPerCall, longestWaitMs, slowest }) =>
      `| ${name} | ${servers} | ${perSecond.toFixed(0)} | ${cpuMsPerCall.toFixed(2)} | ${longestWaitMs.toFixed(0)} | ${(100 * slowest).toFixed(0)} % |`,
  );
  const judged = findings.map(
    ({ name, servers, says, value, bar, isMet }) =>
      `| ${name} | ${servers} | ${says} | ${value.toFixed(2)} | ${bar} | ${isMet ? 'met' : 'MISSED'} |`,
  );
  return `| case | servers | calls/s | CPU ms per call | longest wait, ms | slowest, of the mean |
| --- | ---: | ---: | ---: | ---: | ---: |
${measured.join('\n')}

| case | servers | measure | ratio | bar | |
| --- | ---: | --- | ---: | ---: | --- |
${judged.join('\n')}
`;
}
