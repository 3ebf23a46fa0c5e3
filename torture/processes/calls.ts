import type { Call, Journal } from './journal.ts';
import type { Work } from './script.ts';

/** What a lane created last. */
export interface Own {
  task?: string;
  session?: string;
}

/** A call of one of the 14 tools. A change says its marker in a text that the ledger stores. */
export function toCall({ what, choice }: Work, marker: string, journal: Journal, own: Own): Call | undefined {
  const task_id = choose(journal.tasks, choice, own.task) ?? 'T-0001';
  const session_id = choose(journal.sessions, choice, own.session) ?? 'A-0001';
  const update = (change: object): Call => ({
    tool: 'task_update',
    input: { task_id, description: marker, ...change },
  });
  switch (what) {
    case 'create': {
      const depends_on = choice === undefined || journal.tasks.length === 0 ? {} : { depends_on: [task_id] };
      return { tool: 'task_create', input: { title: marker, status: 'todo', project: 'torture', ...depends_on } };
    }
    case 'claim':
      return update({ status: 'in_progress' });
    case 'progress':
      return update({ progress: (choice ?? 50) % 101 });
    case 'block':
      return update({ status: 'blocked', blocked_reason: marker });
    case 'review':
      return update({ status: 'review' });
    case 'done':
      return update({ status: 'done' });
    case 'session':
      return { tool: 'audit_session_start', input: { task_id, auditor_id: marker } };
    case 'think':
      return { tool: 'thought_record', input: { task_id, type: 'decision', content: marker } };
    case 'seal':
      return { tool: 'merkle_finalize', input: { session_id } };
    case 'root':
      return { tool: 'merkle_root', input: { session_id } };
    case 'get':
      return { tool: 'task_get', input: { task_id, include_thought_trail: true } };
    case 'list':
      return { tool: 'task_list', input: { project: 'torture', limit: 100 } };
    case 'next':
      return { tool: 'task_next_actions', input: { project: 'torture', include_blocked: true } };
    case 'thoughts':
      return { tool: 'thought_record_list', input: { task_id } };
    case 'check':
      return { tool: 'audit_verify_chain', input: { task_id } };
    case 'skills':
      return { tool: 'skill_list', input: {} };
    case 'ping':
      return { tool: 'server_ping', input: {} };
    case 'health':
      return { tool: 'server_health', input: {} };
    default:
      return undefined;
  }
}

/** The command by which a person does the same; `undefined`: `colibri call` with the tool and its input. */
export function toCommand({ what }: Work, { input }: Call, marker: string): string[] | undefined {
  if (what === 'create') return ['add', marker, '--project', 'torture', '--json'];
  if (what === 'think') return ['note', input.task_id ?? '', marker, '--json'];
  if (what === 'seal') return ['seal', input.session_id ?? '', '--json'];
  return undefined;
}

function choose(known: readonly string[], choice: number | undefined, own: string | undefined): string | undefined {
  return choice === undefined ? own : known[choice % Math.max(known.length, 1)];
}
