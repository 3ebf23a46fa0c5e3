// The Colibri recorder for opencode: passes each tool call and session event to `colibri hook`.
import { spawn } from 'node:child_process';

const COMMAND = ['colibri'];
const ARGUMENTS = ['hook', '--client', 'opencode'];
const EVENTS = new Set(['session.created', 'session.idle', 'session.deleted']);
// A failed call has no tool.execute.after.
const isFailedCall = ({ type, properties }) =>
  type === 'message.part.updated' && properties?.part?.type === 'tool' && properties.part.state?.status === 'error';
const TIME_LIMIT_MS = 2500;

// Arguments of another plug-in may hold what JSON cannot represent.
const toText = (payload) => {
  try {
    return JSON.stringify(payload);
  } catch {
    try {
      return JSON.stringify(payload, replaceOnce(new WeakSet()));
    } catch {
      const { tool, sessionID, callID } = payload.input ?? {};
      return JSON.stringify({ ...payload, input: { tool, sessionID, callID }, output: undefined });
    }
  }
};
const replaceOnce = (seen) => (_name, value) => {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (seen.has(value)) return '[repeated]';
  seen.add(value);
  return value;
};

export const ColibriRecorder = async ({ directory }) => {
  // One at a time: a stop that overtakes the end of a call would tell that the call has none.
  let last = Promise.resolve();

  /** Never throws and never waits: the recorder must not change what an agent can do. */
  const report = (hook, input, output) => {
    const text = toText({ hook, timestamp: Date.now(), folder: directory, input, output });
    last = last.then(() => send(text));
  };

  const send = (text) =>
    new Promise((resolve) => {
      try {
        const [program, ...rest] = COMMAND;
        const child = spawn(program, [...rest, ...ARGUMENTS], {
          cwd: directory,
          stdio: ['pipe', 'ignore', 'ignore'],
          timeout: TIME_LIMIT_MS,
        });
        child.on('error', resolve);
        child.on('close', resolve);
        child.stdin.on('error', () => {});
        child.stdin.end(text);
      } catch {
        resolve();
      }
    });

  return {
    'tool.execute.before': async (input, output) => report('tool.execute.before', input, output),
    'tool.execute.after': async (input, output) => report('tool.execute.after', input, output),
    event: async ({ event }) => {
      if (!EVENTS.has(event.type) && !isFailedCall(event)) return;
      report('event', event);
      // `opencode run` exits when the session is idle; what was reported before must arrive.
      if (event.type === 'session.idle') await last;
    },
  };
};
