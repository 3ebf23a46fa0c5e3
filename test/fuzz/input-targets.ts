import { readdirSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { ConfigFormat } from '../../src/cli/init/formats/config-format.ts';
import { jsoncFormat } from '../../src/cli/init/formats/jsonc-file.ts';
import { applyEdits } from '../../src/cli/init/formats/text-edit.ts';
import { tomlFormat } from '../../src/cli/init/formats/toml-file.ts';
import { InitError } from '../../src/cli/init/init-error.ts';
import { parseSkill } from '../../src/domains/skills/skill-file.ts';
import { canonicalize, isCanonicalText, NotCanonical, parseJson } from '../../src/integrity/index.ts';
import { parsePiecewise } from '../../src/integrity/parse-json.ts';
import { toEvent } from '../../src/recorder/clients/recognize.ts';
import { CLIENTS } from '../../src/recorder/event.ts';
import { parseCommits } from '../../src/recorder/git/parse-commits.ts';
import { encodeSpooled, parseSpooled, type RecordOptions, toSpooled } from '../../src/recorder/spooled-event.ts';
import { findFormat } from '../../src/recorder/transcripts/formats.ts';
import { readLines } from '../../src/recorder/transcripts/read-transcript.ts';
import { type FuzzTarget, promise, unlessThrows } from './target.ts';

const canonicalJson: FuzzTarget = {
  name: 'canonical-json',
  samples: [
    '{"a":[1,0.1,1e-7,-5,true,null],"b":{"":"\\u001f\\n\\"\\\\","é":"\u{1f426}"},"\u{1f426}":[],"ﬀ":{}}',
    '[9007199254740991,-9007199254740991,4.5e-7,0.000001,123456789.125]',
    `${'['.repeat(64)}${']'.repeat(64)}`,
  ],
  check: (input) => {
    const value = unlessThrows(SyntaxError, () => ({ value: parseJson(input) }));
    const piecewise = unlessThrows(SyntaxError, () => ({ value: parsePiecewise(input) }));
    promise(isDeepStrictEqual(value, piecewise), 'both parsers of JSON agree');
    const text = value && unlessThrows(NotCanonical, () => canonicalize(value.value));
    promise(isCanonicalText(input) === (text === input), 'a text is canonical if its value is written so');
    if (text !== undefined) promise(canonicalize(parseJson(text)) === text, 'canonical JSON stays as it is');
    return text === input;
  },
};

const skill: FuzzTarget = {
  name: 'skill-file',
  samples: [
    '---\nname: a-skill\ndescription: Says when to use it.\nversion: 1.10\ncapabilities: [a, b]\n---\n# Text\n',
    '---\nname: a-skill\ndescription: >-\n  Two\n  lines\nmetadata:\n  version: "2"\n  capabilities:\n    - &a x\n    - *a\n---\n',
  ],
  check: (input) => {
    const found = unlessThrows(Error, () =>
      describeDefect(() => parseSkill(input, 'a-skill', '/skills/a-skill/SKILL.md')),
    );
    if (found !== undefined)
      promise(found.name === 'a-skill' && typeof found.version === 'string', 'a skill has a name and a version');
    return found !== undefined;
  },
};

/** A defect of the file is a plain error; one of the program is not. */
function describeDefect<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    // The error is wrapped as a cause, because the caller expects a plain error.
    for (const kind of [TypeError, RangeError]) if (error instanceof kind) throw new Unexpected(error);
    throw error;
  }
}

/** Not an `Error`, so that nothing takes it for a documented one. */
class Unexpected {
  constructor(readonly error: Error) {}
}

const ENTRY = { command: 'node', args: ['colibri.cjs'] };

function configFile(
  name: string,
  format: ConfigFormat,
  keys: readonly string[],
  samples: readonly string[],
): FuzzTarget {
  const edit = (text: string, work: () => Parameters<typeof applyEdits>[1]) => {
    const edits = unlessThrows(InitError, work);
    return edits && applyEdits(text, edits);
  };
  return {
    name,
    samples,
    check: (input) => {
      const found = unlessThrows(InitError, () => ({ value: format.find(input, keys) }));
      if (found === undefined) return false;
      if (found.value !== undefined) {
        const replaced = edit(input, () => format.replace(input, keys, ENTRY));
        if (replaced !== undefined)
          promise(isDeepStrictEqual(format.find(replaced, keys), ENTRY), 'a replaced entry is read back');
        return true;
      }
      const added = edit(input, () => format.add(input, keys, ENTRY));
      if (added === undefined) return true;
      promise(isDeepStrictEqual(format.find(added, keys), ENTRY), 'an added entry is read back');
      const removed = edit(added, () => format.remove(added, keys, 1));
      if (removed !== undefined) promise(format.find(removed, keys) === undefined, 'a removed entry is gone');
      return true;
    },
  };
}

const jsonc = configFile(
  'config-jsonc',
  jsoncFormat,
  ['mcpServers', 'colibri'],
  [
    '{\n  // servers\n  "mcpServers": {\n    "db": { "command": "db-mcp", "env": { "A": "b" } } // one\n  },\n}\n',
    '{"mcpServers": {"colibri": {"command": "x"}}, "other": [1, 2, {"a": null}]}',
    '{}',
  ],
);
const toml = configFile(
  'config-toml',
  tomlFormat,
  ['mcp_servers', 'colibri'],
  [
    'model = "m" # large\n\n[mcp_servers.db]\ncommand = "db-mcp"\nargs = [ "a", "b" ]\n',
    '[mcp_servers.colibri]\ncommand = "node"\n\n[[list]]\na = 1979-05-27T07:32:00Z\nb = { c = 1.5, d = """\ntext""" }\n',
  ],
);

const OPTIONS = { at: new Date('2026-11-16T12:00:00.000Z'), salt: '0'.repeat(32) };
const LEVELS: readonly RecordOptions['level'][] = ['digests', 'excerpts', 'full'];
const MAX_SPOOLED = 40_000;

/** One line of each client, as its hooks write it; those without a recorded file follow their documentation. */
function listPayloads(): string[] {
  const folder = 'test/recorder/payloads';
  // Events from documentation are in files of another form.
  const files = readdirSync(folder).filter((file) => file.endsWith('.jsonl'));
  const lines = files.flatMap((file) => readFileSync(`${folder}/${file}`, 'utf8').trim().split('\n'));
  const session = '0123456789abcdef0123';
  const others = [
    {
      conversation_id: session,
      cursor_version: '2',
      hook_event_name: 'afterShellExecution',
      command: 'ls',
      output: 'a',
    },
    { trajectory_id: session, agent_action_name: 'post_run_command', tool_info: { command_line: 'ls', cwd: '/me' } },
    { sessionId: session, hookEventName: 'PostToolUse', tool_name: 'runInTerminal', tool_input: {}, timestamp: 'now' },
  ];
  return [...lines, ...others.map((payload) => JSON.stringify(payload))].map((line) => line.slice(0, 20_000));
}

const hookPayload: FuzzTarget = {
  name: 'hook-payload',
  samples: listPayloads(),
  check: (input) => {
    const payload = unlessThrows(SyntaxError, () => ({ value: parseJson(input) }));
    if (payload === undefined) return false;
    let isKnown = false;
    for (const client of [undefined, ...CLIENTS]) {
      const event = toEvent(payload.value, { client });
      isKnown ||= event.content.defect === undefined;
      const level = LEVELS[input.length % LEVELS.length] ?? 'full';
      const text = encodeSpooled(toSpooled(event, { ...OPTIONS, level }));
      promise(text.length < MAX_SPOOLED && isCanonicalText(text), 'an event is short and canonical');
      promise(parseSpooled(text) !== undefined, 'what a hook writes can be recorded');
    }
    promise(!('polluted' in {}), 'no prototype is changed');
    return isKnown;
  },
};

const spooled = hookPayload.samples.map((line) =>
  encodeSpooled(toSpooled(toEvent(JSON.parse(line)), { ...OPTIONS, level: 'full' })),
);
const commit = {
  sha: 'a'.repeat(40),
  tree: 'b'.repeat(40),
  parents: ['c'.repeat(40)],
  rewrites: null,
  tasks: ['T-0001'],
};
const commits = canonicalize({
  v: 1,
  at: OPTIONS.at.toISOString(),
  folder: '/me',
  commits: [
    {
      ...commit,
      is_decided: true,
      salt: OPTIONS.salt,
      content: '{"branch":"main","paths":["a"]}',
    },
  ],
});

const spoolFile: FuzzTarget = {
  name: 'spool-file',
  samples: [...spooled, commits],
  check: (input) => {
    const event = parseSpooled(input);
    if (event !== undefined) promise(encodeSpooled(event) === input, 'a spooled event has one text');
    return event !== undefined || parseCommits(input) !== undefined;
  },
};

/** Returns as many whole lines of the end as fit. */
function lastLines(text: string, most: number): string {
  return text.slice(text.indexOf('\n', Math.max(0, text.length - most)) + 1);
}

function transcript(client: string): FuzzTarget {
  const folder = 'test/recorder/transcripts';
  const files = readdirSync(folder).filter((file) => file.startsWith(`${client}-`) && !file.includes('.hooks.'));
  const format = findFormat(client);
  if (format === undefined) throw new Error(`no format of ${client}`);
  /** Reads in pieces of this many bytes. */
  const read = (input: string, piece: number) => {
    const bytes = Buffer.from(input);
    const source = {
      stat: async () => ({ size: bytes.length }),
      read: async (buffer: Uint8Array, offset: number, length: number, position: number) => {
        const part = bytes.subarray(position, position + Math.min(length, piece));
        buffer.set(part, offset);
        return { bytesRead: part.length };
      },
    };
    return readLines(format, source, { maxBytes: 50_000, maxLineBytes: 20_000 });
  };
  return {
    name: `transcript-${client}`,
    samples: files.map((file) => lastLines(readFileSync(`${folder}/${file}`, 'utf8'), 15_000)),
    check: async (input) => {
      const whole = await read(input, Number.MAX_SAFE_INTEGER);
      promise(isDeepStrictEqual(whole, await read(input, 997)), 'a transcript says the same in any pieces');
      for (const { tokens } of whole.responses)
        promise(
          Object.values(tokens).every((count) => Number.isSafeInteger(count) && count >= 0),
          'tokens are counts',
        );
      return whole.defect === null;
    },
  };
}

export const INPUT_TARGETS: readonly FuzzTarget[] = [
  canonicalJson,
  skill,
  jsonc,
  toml,
  hookPayload,
  spoolFile,
  ...['claude-code', 'codex', 'copilot-cli', 'gemini-cli'].map(transcript),
];
