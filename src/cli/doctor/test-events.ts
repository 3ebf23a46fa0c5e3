/** Events with the least that each client's hooks write, for a session that only doctor knows. */

type Payload = Readonly<Record<string, unknown>>;

export interface TestEvent {
  /** The client that the recorder must recognize. */
  readonly client: string;
  readonly payload: Payload;
}

/** The event of a client (by its id in `init`) with this name. */
export function createTestEvent(id: string, event: string, session: string, folder: string): TestEvent {
  const create = EVENTS[id];
  if (create === undefined) throw new Error(`no test event for ${id}`);
  return create({ event, session, folder, at: new Date() });
}

interface Facts {
  readonly event: string;
  readonly session: string;
  readonly folder: string;
  readonly at: Date;
}

const claudeShaped = ({ event, session, folder }: Facts) => ({
  session_id: session,
  cwd: folder,
  hook_event_name: event,
});

const EVENTS: Readonly<Record<string, (facts: Facts) => TestEvent>> = {
  'claude-code': (facts) => ({ client: 'claude-code', payload: claudeShaped(facts) }),
  codex: (facts) => ({ client: 'codex', payload: { ...claudeShaped(facts), turn_id: 'test' } }),
  gemini: (facts) => ({
    client: 'gemini-cli',
    payload: { ...claudeShaped(facts), timestamp: facts.at.toISOString() },
  }),
  cursor: ({ event, session, folder }) => ({
    client: 'cursor',
    payload: { conversation_id: session, hook_event_name: event, workspace_roots: [folder] },
  }),
  // VS Code reads the same file; its events have Claude Code's shape.
  vscode: ({ session, folder, at }) => ({
    client: 'copilot-cli',
    payload: { sessionId: session, timestamp: at.getTime(), cwd: folder },
  }),
  windsurf: ({ event, session, folder }) => ({
    client: 'windsurf',
    payload: { agent_action_name: event, trajectory_id: session, tool_info: { cwd: folder } },
  }),
  opencode: ({ session, folder }) => ({
    client: 'opencode',
    payload: { hook: 'event', folder, input: { type: 'session.idle', properties: { sessionID: session } } },
  }),
};
