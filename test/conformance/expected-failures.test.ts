import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

/** What applies to any server of tools, whatever its transport: a failure of these is never expected. */
const NEVER = /^(?:server-initialize|server-session-lifecycle|ping|tools-list)$/;

describe.each(['2025', '2026'])('the expected failures of the conformance suite, %s', (year) => {
  const text = readFileSync(`test/conformance/expected-failures-${year}.yml`, 'utf8');
  const { server } = parse(text) as { server: string[] };

  it('every expected failure has a reason', () => {
    const lines = text.split('\n').filter((line) => line.startsWith('  - '));
    expect(lines.filter((line) => !/^ {2}- [\w-]+ # \S.{15,}$/.test(line))).toEqual([]);
    expect(lines).toHaveLength(server.length);
  });

  it('every expected failure is listed once and is optional for a tool server', () => {
    expect(new Set(server).size).toBe(server.length);
    expect(server.filter((name) => NEVER.test(name))).toEqual([]);
  });
});
