import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { promiseTest } from '../test/support/promise-test.ts';
import {
  type Config,
  createEnvironment,
  describeLocation,
  findConfigFolder,
  isColorForced,
  locateDatabase,
  readConfig,
  TEST_SESSION,
} from './config.ts';

const DEFAULTS: Config = {
  mode: 'FULL',
  dbPath: undefined,
  projectDbPath: undefined,
  databaseUrl: undefined,
  agentId: undefined,
  agentBase: undefined,
  project: 'default',
  workflow: 'board',
  claimTtlMs: 7_200_000,
  skillsPath: '.agents/skills',
  keyPath: undefined,
  durability: 'full',
  recordLevel: 'excerpts',
  logLevel: 'info',
  startupTimeoutMs: 30_000,
};

// A terminal hides blanks at the ends.
const LIKE_OTHERS = ['person:ada', 'person:', ' person:ada', 'a ', 'hook:git', 'Hook:', 'colibri', 'Colibri#'];

const VARIABLES: {
  readonly name: string;
  readonly field: keyof Config;
  readonly takes: readonly string[];
  readonly refuses: readonly string[];
  readonly allowed: RegExp;
}[] = [
  {
    name: 'COLIBRI_MODE',
    field: 'mode',
    takes: ['FULL', 'READONLY', 'TEST', 'MINIMAL'],
    refuses: ['full', 'FULL ', ' ', 'ALL', '0', 'FULL,TEST', 'toString'],
    allowed: /FULL, READONLY, TEST, MINIMAL/,
  },
  {
    name: 'COLIBRI_AGENT_ID',
    field: 'agentId',
    takes: ['claude', 'Agent 7', 'ünï😀', 'a'.repeat(128)],
    refuses: ['a'.repeat(129), 'a\nb', 'a\u0000b', '\u007f', '\u0085', 'half\ud800', ...LIKE_OTHERS],
    allowed: /1 to 128 characters, none of them a control character/,
  },
  {
    name: 'COLIBRI_PROJECT',
    field: 'project',
    takes: ['default', 'a', '0', 'my.project_1-x', 'p'.repeat(64)],
    refuses: ['Upper', 'with space', 'p'.repeat(65), 'ünïcode', 'a/b', 'a\n'],
    allowed: /a-z, 0-9, ".", "_", "-", at most 64/,
  },
  {
    name: 'COLIBRI_WORKFLOW',
    field: 'workflow',
    takes: ['board', 'pipeline'],
    refuses: ['Board', 'kanban', ' board'],
    allowed: /board, pipeline/,
  },
  {
    name: 'COLIBRI_DURABILITY',
    field: 'durability',
    takes: ['full', 'relaxed'],
    refuses: ['FULL', 'none', 'off'],
    allowed: /full, relaxed/,
  },
  {
    name: 'COLIBRI_LOG_LEVEL',
    field: 'logLevel',
    takes: ['error', 'warn', 'info', 'debug'],
    refuses: ['ERROR', 'trace', 'silent', '3'],
    allowed: /error, warn, info, debug/,
  },
];

describe('the environment', () => {
  promiseTest('config/variables', 'nothing set gives the defaults', () => expect(readConfig({})).toEqual(DEFAULTS));

  for (const { name, field, takes, refuses, allowed } of VARIABLES) {
    promiseTest('config/variables', name, () => {
      for (const value of takes) expect(readConfig({ [name]: value })).toEqual({ ...DEFAULTS, [field]: value });
      for (const unset of ['', undefined]) expect(readConfig({ [name]: unset })).toEqual(DEFAULTS);
    });

    for (const value of refuses) {
      promiseTest('config/refused', `${name}=${JSON.stringify(value).slice(0, 40)}`, () =>
        expectRefused(name, value, allowed),
      );
    }
  }

  for (const value of ['1', '5000', '3600000', '00050']) {
    promiseTest('config/variables', `COLIBRI_STARTUP_TIMEOUT_MS=${value}`, () => {
      expect(readConfig({ COLIBRI_STARTUP_TIMEOUT_MS: value }).startupTimeoutMs).toBe(Number(value));
    });
  }

  promiseTest('config/variables', 'an empty COLIBRI_STARTUP_TIMEOUT_MS is 30 s', () => {
    expect(readConfig({ COLIBRI_STARTUP_TIMEOUT_MS: '' }).startupTimeoutMs).toBe(30_000);
  });

  for (const value of ['0', '-1', '3600001', '1.5', '1e3', '5s', ' 5', '0x10', 'Infinity', 'NaN', '٣']) {
    promiseTest('config/refused', `COLIBRI_STARTUP_TIMEOUT_MS=${value}`, () =>
      expectRefused('COLIBRI_STARTUP_TIMEOUT_MS', value, /from 1 to 3600000/),
    );
  }

  const durations = {
    '1s': 1000,
    '90s': 90_000,
    '30m': 1_800_000,
    '2h': 7_200_000,
    '7d': 604_800_000,
    '8760h': 31_536_000_000,
    '31536000s': 31_536_000_000,
    '365d': 31_536_000_000,
    off: undefined,
  };
  for (const [value, claimTtlMs] of Object.entries(durations)) {
    promiseTest('config/variables', `COLIBRI_CLAIM_TTL=${value}`, () => {
      expect(readConfig({ COLIBRI_CLAIM_TTL: value })).toEqual({ ...DEFAULTS, claimTtlMs });
    });
  }

  const notDurations =
    '0s|0|5|-1h|1.5h|1h30m|2H|2 h| 2h|2h |OFF|never|1w|500ms|8761h|366d|31536001s|99999999999s|1e3s|٣s|02h'.split('|');
  for (const value of notDurations) {
    promiseTest('config/refused', `COLIBRI_CLAIM_TTL=${JSON.stringify(value)}`, () =>
      expectRefused('COLIBRI_CLAIM_TTL', value, /90s, 30m, 2h or 7d, from 1s to 365d, or off/),
    );
  }

  promiseTest('config/variables', 'paths are taken as they are', () => {
    const config = readConfig({ COLIBRI_DB_PATH: 'some where/x.db', COLIBRI_SKILLS_PATH: 'my skills' });
    expect(config).toEqual({ ...DEFAULTS, dbPath: 'some where/x.db', skillsPath: 'my skills' });
    expect(readConfig({ COLIBRI_DB_PATH: '', COLIBRI_SKILLS_PATH: '' })).toEqual(DEFAULTS);
  });

  promiseTest('config/variables', 'the URL of a database', () => {
    for (const databaseUrl of ['postgres://user:secret@host/db', 'postgresql://host:6543/db?sslmode=require'])
      expect(readConfig({ COLIBRI_DATABASE_URL: databaseUrl })).toEqual({ ...DEFAULTS, databaseUrl });
    expect(readConfig({ COLIBRI_DATABASE_URL: '' })).toEqual(DEFAULTS);
  });

  for (const value of [
    'secret',
    'mysql://user:secret@host/db',
    '/var/secret.db',
    'postgres://user:secret@host:port/db',
  ]) {
    promiseTest('config/refused', `COLIBRI_DATABASE_URL=${value}, and its value is not repeated`, () => {
      expectRefused('COLIBRI_DATABASE_URL', value, /postgres:\/\//);
      expect(() => readConfig({ COLIBRI_DATABASE_URL: value })).not.toThrow(/secret/);
    });
  }

  for (const parameter of [
    'lock_timeout=abc',
    'statement_timeout=5s',
    'statement_timeout=0',
    'lock_timeout=-1',
    'lock_timeout=1000000000',
    'query_timeout=',
    'idle_in_transaction_session_timeout=1.5',
    'lock_timeout=soon&lock_timeout=5',
    'lock_timeout=5&lock_timeout=soon',
  ])
    promiseTest('config/refused', `COLIBRI_DATABASE_URL with ${parameter}, and nothing else of it is repeated`, () => {
      const value = `postgres://user:secret@host/db?${parameter}&sslpassword=hidden`;
      const wrong = parameter.split('&').find((part) => part !== 'lock_timeout=5');
      const says = `has ${wrong}; it is a whole number of milliseconds from 1 to 999999999`;
      expectRefused('COLIBRI_DATABASE_URL', value, new RegExp(says));
      expect(() => readConfig({ COLIBRI_DATABASE_URL: value })).not.toThrow(/secret|hidden|host/);
    });

  promiseTest('config/refused', 'COLIBRI_DATABASE_URL with a text instead of a number that may be anything', () => {
    const value = `postgres://host/db?lock_timeout=${encodeURIComponent('what@ever this is')}`;
    expectRefused('COLIBRI_DATABASE_URL', value, /has a lock_timeout of another kind; it is a whole number/);
    expect(() => readConfig({ COLIBRI_DATABASE_URL: value })).not.toThrow(/what/);
  });

  for (const sslmode of ['disable', 'prefer', 'require', 'verify-ca'])
    promiseTest('config/refused', `COLIBRI_DATABASE_URL with sslrootcert=system and sslmode=${sslmode}`, () => {
      const value = `postgres://user:secret@host/db?sslmode=${sslmode}&sslrootcert=system`;
      expectRefused('COLIBRI_DATABASE_URL', value, /has sslrootcert=system, .* sslmode=verify-full/);
    });

  promiseTest('config/refused', 'two places for one ledger', () => {
    const read = () => readConfig({ COLIBRI_DATABASE_URL: 'postgres://host/db', COLIBRI_DB_PATH: 'a.db' });
    expect(read).toThrow(/unset one of them/);
  });

  for (const name of ['AMS_MODE', 'AMS_X', 'AMS_']) {
    promiseTest('config/refused', name, () => expectRefused(name, 'anything', /unset it and use its COLIBRI_\*/));
    promiseTest('config/refused', `${name} even when it is empty`, () => expectRefused(name, '', /old system/));
  }

  promiseTest('config/refused', 'but names that only look like the old ones are let be', () => {
    expect(readConfig({ AMSTERDAM: '1', ams_mode: '1', MY_AMS_MODE: '1' })).toEqual(DEFAULTS);
  });

  promiseTest('config/frozen', 'by anyone', () => {
    const config = readConfig({});
    expect(Object.isFrozen(config)).toBe(true);
    expect(() => Object.assign(config, { mode: 'TEST' })).toThrow(TypeError);
  });
});

describe('the place of the ledger', () => {
  it('places the ledger at an absolute path below the working directory by default', () => {
    expect(locateDatabase({ dbPath: undefined })).toBe(`${process.cwd()}/.colibri/colibri.db`);
    expect(locateDatabase({ dbPath: 'a/../b.db' })).toBe(`${process.cwd()}/b.db`);
    expect(locateDatabase({ dbPath: '/some/where.db' })).toBe('/some/where.db');
  });
});

function expectRefused(name: string, value: string, allowed: RegExp): void {
  const read = () => readConfig({ [name]: value });
  const code = name === 'COLIBRI_MODE' ? 'ERR_INVALID_MODE' : 'ERR_CONFIG_INVALID';
  expect(read).toThrow(expect.objectContaining({ code, facts: { variable: name } }));
  expect(read).toThrow(allowed);
  expect(read).toThrow(new RegExp(`^${name}: `));
}

describe('what is derived from the environment', () => {
  promiseTest('config/variables', 'a child process gets only the variables that it is given', () => {
    const env = { PATH: '/bin', COLIBRI_MODE: 'FULL', AMS_MODE: 'x', MY_COLIBRI_MODE: 'kept' };
    expect(createEnvironment({ COLIBRI_PROJECT: 'web' }, env)).toEqual({
      PATH: '/bin',
      MY_COLIBRI_MODE: 'kept',
      COLIBRI_PROJECT: 'web',
    });
  });

  promiseTest('config/variables', 'the location of a ledger is printed without its password', () => {
    const location = describeLocation(readConfig({ COLIBRI_DATABASE_URL: 'postgres://user:secret@host/db' }));
    expect(location).toContain('host');
    expect(location).not.toContain('secret');
    expect(describeLocation(readConfig({ COLIBRI_DB_PATH: 'a.db' }))).toBe(resolve('a.db'));
  });

  promiseTest('config/variables', 'a relative configuration folder is ignored', () => {
    const home = findConfigFolder({});
    expect(findConfigFolder({ XDG_CONFIG_HOME: 'relative', APPDATA: 'relative' })).toBe(home);
    const named = resolve('configuration');
    expect(findConfigFolder({ XDG_CONFIG_HOME: named, APPDATA: named })).toBe(named);
  });
});

describe('.env.example', () => {
  const text = readFileSync('.env.example', 'utf8');
  const listed = [...text.matchAll(/^# (COLIBRI_[A-Z_]+)=(.*)$/gm)].map(
    ([, name = '', value = '']) => [name, value] as const,
  );

  promiseTest('config/example', 'the variables of config.ts, in any order, and no others', () => {
    const read = new Set(readFileSync('src/config.ts', 'utf8').match(/(?<=')COLIBRI_[A-Z_]+(?=')/g));
    // Only doctor sets it, for the hook that it starts.
    read.delete(TEST_SESSION);
    expect(listed.map(([name]) => name).sort()).toEqual([...read].sort());
  });

  promiseTest('config/example', 'each value is the default', () => {
    for (const [name, value] of listed) {
      const { dbPath, ...config } = readConfig({ [name]: value });
      expect({ ...config, dbPath: undefined }, name).toEqual(DEFAULTS);
      expect(locateDatabase({ dbPath }), name).toBe(locateDatabase(DEFAULTS));
    }
  });

  promiseTest('config/example', 'a copy that is loaded as it is sets nothing', () => {
    expect(text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
  });
});

describe('isColorForced', () => {
  it.each([
    [{}, false],
    [{ FORCE_COLOR: '0' }, false],
    [{ FORCE_COLOR: 'false' }, false],
    [{ NO_COLOR: '1' }, false],
    [{ FORCE_COLOR: '' }, true],
    [{ FORCE_COLOR: '1' }, true],
    [{ FORCE_COLOR: '3', NO_COLOR: '1' }, true],
  ])('of %j is %s', (env, expected) => expect(isColorForced(env)).toBe(expected));
});
