import type { Call } from '../support/stdio-agent.ts';

type Answer = Record<string, unknown>;
type Calls = Generator<Call, never, Answer>;

export function* creates(agent: number): Calls {
  for (;;) yield ['task_create', { title: `Measure what one call costs, agent ${agent}`, project: 'bench' }];
}

/** One task from creation to seal, with every tool. */
export function* allTools(agent: number): Calls {
  const project = `bench-${agent}`;
  for (;;) {
    yield ['server_ping', {}];
    const created = yield ['task_create', { title: 'Measure a whole task', project, status: 'todo' }];
    const task_id = created['task_id'];
    yield ['task_next_actions', { project, limit: 5 }];
    yield ['task_update', { task_id, status: 'in_progress' }];
    const { session_id } = yield ['audit_session_start', { task_id, auditor_id: 'bench' }];
    for (const content of ['Read the code first.', 'One lock is enough.', 'Measured before and after.'])
      yield ['thought_record', { task_id, type: 'decision', content }];
    yield ['task_get', { task_id, include_thought_trail: true }];
    yield ['thought_record_list', { task_id }];
    yield ['audit_verify_chain', { task_id }];
    yield ['task_update', { task_id, status: 'review' }];
    yield ['task_update', { task_id, status: 'done' }];
    yield ['merkle_root', { session_id }];
    yield ['merkle_finalize', { session_id }];
    yield ['task_list', { project, limit: 10 }];
    yield ['skill_list', {}];
    yield ['server_health', {}];
  }
}

/** The same create as a call of the peer, where each agent has its own project. */
export function* peerCreates(agent: number): Calls {
  const { project_id } = yield ['createProject', { projectName: `bench-${agent}` }];
  for (;;) yield ['addTask', { project_id, description: `Measure what one call costs, agent ${agent}` }];
}
