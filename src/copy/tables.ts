/** What a ledger is made of, as a copy sees it. Columns are read off the rows, so that none can be forgotten. */

/** Rows that come with one entry of the log, by the column that names it. Only a call changes later: it ends. */
export const BY_ENTRY = {
  ledger_entries: 'idx',
  presence: 'sequence_no',
  call_exits: 'sequence_no',
  thoughts: 'idx',
  project_options: 'idx',
  ledger_keys: 'idx',
  observations: 'idx',
  redactions: 'idx',
} as const;

/** Rows that say how things are now, by their primary key. In this order, and each in the order of its key. */
export const BY_KEY = {
  counters: ['name'],
  tasks: ['task_no'],
  task_labels: ['label', 'task_no'],
  task_dependencies: ['task_no', 'depends_on'],
  task_unmet: ['task_no'],
  task_counts: ['project', 'status', 'priority', 'assignee'],
  sessions: ['session_no'],
  session_events: ['session_no', 'session_seq'],
  observed_sessions: ['session'],
} as const;

/** Merged by its key at the end: until then its rows show which calls were open when they were copied. */
export const PRESENCE = { table: 'presence', key: ['sequence_no'] } as const;

/** Says how far all tables have come; it is what lets a server append, so it comes last. */
export const HEAD = { table: 'ledger_head', key: ['id'] } as const;
