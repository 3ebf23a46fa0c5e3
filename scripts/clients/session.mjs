// The session that every client plays: claim a task, edit, a command that fails and one that passes, decisions, a
// commit, done. Each step has one kind: a tool of Colibri, an edit or a command.

export const TASK = 'T-0001';
export const TEST_COMMAND = 'node check.mjs';
/** Said, and never run. */
export const UNRUN_COMMAND = 'npm run lint';
/** Said, and in no repository. */
export const MISSING_COMMIT = '0123456789abcdef0123456789abcdef01234567';
export const FAILING_EXIT_CODE = 3;
const FILE = 'greeting.txt';

/** Fails until the greeting is right. */
export const CHECK_PROGRAM = `import { readFileSync } from 'node:fs';
const text = readFileSync('${FILE}', 'utf8');
console.log(text === 'hello, world\\n' ? 'the greeting is right' : 'the greeting is wrong');
process.exitCode = text === 'hello, world\\n' ? 0 : ${FAILING_EXIT_CODE};
`;

/** `findHead` reads the commit that the session has made, when the step is reached. */
export function sessionSteps(findHead) {
  const thought = (fields) => ({
    tool: 'thought_record',
    input: () => ({ task_id: TASK, type: 'decision', ...fields() }),
  });
  const tests_run = [TEST_COMMAND, UNRUN_COMMAND];
  return [
    { tool: 'task_update', input: () => ({ task_id: TASK, status: 'in_progress' }) },
    { tool: 'task_update', input: () => ({ task_id: 'T-9999', status: 'done' }), fails: true },
    { path: FILE, before: undefined, after: 'hello\n' },
    { command: TEST_COMMAND, exitCode: FAILING_EXIT_CODE, fails: true },
    { path: FILE, before: 'hello\n', after: 'hello, world\n' },
    { command: TEST_COMMAND, exitCode: 0 },
    { tool: 'audit_session_start', input: () => ({ task_id: TASK, auditor_id: 'scripted' }) },
    thought(() => ({ content: 'Greet the world, because the check asks for it.', tests_run })),
    { command: 'git add -A && git commit -q -m "Greet the world"', exitCode: 0 },
    thought(() => ({ content: 'The commit holds the greeting.', commit_sha: findHead() })),
    thought(() => ({ content: 'This commit was never made.', commit_sha: MISSING_COMMIT })),
    { tool: 'task_update', input: () => ({ task_id: TASK, status: 'review' }) },
    { tool: 'task_update', input: () => ({ task_id: TASK, status: 'done' }) },
  ];
}

/** What the recorder calls the action of a step. */
export function actionOf(step) {
  return step.tool !== undefined ? 'mcp' : step.command !== undefined ? 'shell' : 'edit';
}
