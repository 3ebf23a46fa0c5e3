import { describe, expect, it } from 'vitest';
import { isDumbTerminal, namesPerson, readCommandConfig, readConfig } from './config.ts';

describe('the environment of a command of a person', () => {
  it('tells a terminal that knows no escape sequences, so that no view is drawn in place', () => {
    expect([{ TERM: 'dumb' }, { TERM: 'xterm' }, {}].map((env) => isDumbTerminal(env))).toEqual([true, false, false]);
  });

  it('accepts the name of a person where a server needs the name of an agent', () => {
    const env = { COLIBRI_AGENT_ID: 'person:ada' };
    expect(() => readConfig(env)).toThrow('COLIBRI_AGENT_ID');
    expect(namesPerson(env)).toBe(true);
    expect(readCommandConfig(env)).toMatchObject({ agentId: undefined, mode: 'FULL' });
  });

  it('accepts a name that is reserved for the recorder', () => {
    const env = { COLIBRI_AGENT_ID: 'hook:git' };
    expect(() => readConfig(env)).toThrow('COLIBRI_AGENT_ID');
    expect(namesPerson(env)).toBe(false);
    expect(readCommandConfig(env)).toMatchObject({ agentId: undefined, mode: 'FULL' });
  });

  it('reads all other variables like a server', () => {
    const env = { COLIBRI_AGENT_ID: 'reviewer' };
    expect(namesPerson(env)).toBe(false);
    expect(readCommandConfig(env)).toEqual(readConfig(env));
    expect(() => readCommandConfig({ COLIBRI_MODE: 'NONE' })).toThrow('COLIBRI_MODE');
  });
});
