import type { Reader, Transaction } from '../../db/database.ts';
import { ColibriError } from '../../errors.ts';
import { formatTaskId, parseId } from '../../ids.ts';
import { isPerson } from '../../integrity/index.ts';
import { nextNumbers } from '../../ledger/counters.ts';
import { defineTool, type Tool } from '../../tool.ts';
import { readEvidence } from '../evidence/repository.ts';
import { cutAnswer } from '../trail/cut-list.ts';
import { hasReasonInAttempt, listThoughtLines } from '../trail/repository.ts';
import { changedTask, newTask, updateWarnings } from './change.ts';
import { claimAfter } from './claims/decide.ts';
import { readClaimFacts } from './claims/facts.ts';
import { assertClaimAllows, isGuarded } from './claims/rules.ts';
import { assertAcyclic, countUnmet, mayCloseCycle, waitsFor } from './dependencies.ts';
import { readLinks, readUnmet, requireTasks, taskNotFound } from './dependency-links.ts';
import {
  acceptAliases,
  acceptListForms,
  acceptNulls,
  acceptPatch,
  explainAliases,
  explainPatch,
} from './input-aliases.ts';
import { listTasks } from './list-query.ts';
import { hintOfEmptyQueue, listBlocked, listNextActions } from './next-actions.ts';
import { createOutput, getOutput, listOutput, nextActionsOutput, updateOutput, withoutNulls } from './output.ts';
import type { Task, TokenedTask } from './record.ts';
import {
  findTokenedTask,
  hasProject,
  insertTask,
  listChildren,
  listUnmet,
  projectCounter,
  updateTask,
} from './repository.ts';
import { describeMissing, findUnobserved, observationRequired } from './review/observed-runs.ts';
import { readProjectOptions } from './review/options.ts';
import { assertSignedOff } from './review/sign-off.ts';
import { createInput, getInput, listInput, nextActionsInput, updateInput } from './schema.ts';
import { wordsOfNewTask } from './search.ts';
import { indexedWords } from './tokenizer.ts';
import { WORKFLOWS, type Workflow, type WorkflowName, workflowOf } from './workflows.ts';
import { assertWrittenBack } from './writeback.ts';

export interface TaskDefaults {
  readonly project: string;
  readonly workflow: WorkflowName;
  /** How long the holder of a task may be silent; undefined if silence alone lapses no claim. */
  readonly claimTtlMs: number | undefined;
}

export function createTaskTools(defaults: TaskDefaults): Tool[] {
  return [createTool(defaults), getTool, updateTool(defaults), listTool, nextActionsTool(defaults)];
}

function createTool(defaults: TaskDefaults): Tool {
  return defineTool({
    name: 'task_create',
    title: 'Create a task',
    description: 'Create a task before you start the work. Returns its task_id.',
    errorPattern: 'B',
    normalize: acceptNulls(createInput),
    explainUnknown: explainAliases(createInput),
    inputSchema: createInput,
    outputSchema: createOutput,
    access: 'write',
    codes: ['ERR_NOT_FOUND', 'ERR_INVALID_TRANSITION', 'ERR_CIRCULAR_DEPENDENCY'],
    prepare: ({ title, description }, { engine }) => wordsOfNewTask(engine, title, description ?? ''),
    handle: async (input, { db, actor, at }, words) => {
      const { project = defaults.project, workflow = defaults.workflow } = input;
      const openTasks = await requireTasks(db, [input.parent_id ?? [], input.depends_on ?? []].flat());
      const [taskNo, sequence] = await nextNumbers(db, 'task', projectCounter(project));
      const task = newTask(input, { task_id: formatTaskId(taskNo), sequence, project, workflow, at, actor });
      await insertTask(db, task, { unmet: countUnmet(task.depends_on, openTasks), words });
      await assertNoNewCycle(db, undefined, task);
      return { task_id: task.task_id, status: task.status, created_at: at, created_by: actor, sequence };
    },
  });
}

const getTool = defineTool({
  name: 'task_get',
  title: 'Read a task',
  description: 'Read one task with all fields; include_thought_trail adds its decisions.',
  errorPattern: 'B',
  normalize: acceptAliases(getInput),
  explainUnknown: explainAliases(getInput),
  inputSchema: getInput,
  outputSchema: getOutput,
  access: 'read',
  idempotent: true,
  codes: ['ERR_NOT_FOUND'],
  handle: async ({ task_id, include_thought_trail, include_dependents }, { db }) => {
    const { task, token } = await requireTask(db, task_id);
    const { sequence: _internal, ...shown } = task;
    const taskNo = parseId(shown.task_id);
    return {
      ...withoutNulls({ ...shown, claim: task.holder === null ? null : token }),
      ...(include_thought_trail ? await readTrail(db, taskNo) : {}),
      ...(include_dependents ? cutAnswer('dependents', await listChildren(db, taskNo, MAX_DEPENDENTS)) : {}),
    };
  },
});

function updateTool(defaults: TaskDefaults): Tool {
  return defineTool({
    name: 'task_update',
    title: 'Change a task',
    description:
      'Change fields or status. Claim a task by moving it from todo to in_progress: exactly one agent wins and holds it until review. Call thought_record before done.',
    errorPattern: 'B',
    normalize: acceptPatch(updateInput),
    explainUnknown: explainPatch(updateInput),
    inputSchema: updateInput,
    outputSchema: updateOutput,
    needsObserved: (input) => isGated((input as { readonly status?: unknown } | null)?.status),
    access: 'write',
    codes: [
      'ERR_NOT_FOUND',
      'ERR_INVALID_TRANSITION',
      'ERR_CLAIM_HELD',
      'ERR_CLAIM_LOST',
      'ERR_WRITEBACK_REQUIRED',
      'ERR_APPROVAL_REQUIRED',
      'ERR_OBSERVATION_REQUIRED',
      'ERR_CIRCULAR_DEPENDENCY',
    ],
    prepare: ({ title, description }) =>
      title === undefined || description == null ? undefined : indexedWords(title, description),
    handle: async (input, { db, actor, at, liveness, firstCall, force, hasWaitingEvents }, words) => {
      const found = await requireTask(db, input.task_id);
      const before = found.task;
      const request = {
        actor,
        status: input.status,
        token: input.claim,
        isGuarded: isGuarded(input),
        isForced: force !== undefined && isPerson(actor),
        firstCall,
      };
      const context = { liveness, at, ttlMs: defaults.claimTtlMs };
      assertClaimAllows(before, request, await readClaimFacts(db, found, request, context));
      const after = changedTask(before, input, actor, at);
      const taskNo = parseId(before.task_id);
      assertWrittenBack(before, input.status, await hasReasonInAttempt(db, taskNo, before.attempt));
      const { done, review } = workflowOf(before.workflow);
      const options = isGated(input.status) ? await readProjectOptions(db, before.project) : {};
      if (input.status === done) await assertSignedOff(db, { before, after, actor }, options);
      const unobserved = await findUnobserved(db, before, options, hasWaitingEvents);
      if (unobserved !== undefined && input.status === done && !request.isForced)
        throw observationRequired(before, unobserved);
      const unmet = await readUnmet(db, found, after, input);
      const { isNew: isClaim } = claimAfter(before, request);
      const claim = await updateTask(db, { before: found, after, isClaim, unmet, words });
      await assertNoNewCycle(db, before, after);
      const warnings = updateWarnings(before, after, input, actor);
      if (request.isForced && before.holder !== null && before.holder !== actor)
        warnings.push(`overrode the claim of ${before.holder}`);
      if (unobserved !== undefined && [done, review].includes(after.status))
        warnings.push(
          `${after.status === done ? 'done although' : `${done} will be refused:`} ${describeMissing(unobserved)}`,
        );
      if (isClaim && after.holder !== null) {
        const unmet = await listUnmet(db, taskNo);
        if (unmet.length > 0) warnings.push(`started while it ${waitsFor(unmet)}`);
      }
      return describeUpdate(before, after, { claim, isClaim, warnings });
    },
  });
}

const listTool = defineTool({
  name: 'task_list',
  title: 'List tasks',
  description: 'Find tasks by any combination of filters, last changed first. Call task_next_actions to pick work.',
  errorPattern: 'B',
  normalize: acceptListForms(listInput),
  explainUnknown: explainAliases(listInput),
  inputSchema: listInput,
  outputSchema: listOutput,
  access: 'read',
  idempotent: true,
  handle: async (input, { db }) => {
    const { tasks, total } = await listTasks(db, input);
    return { tasks, total_count: total, returned_count: tasks.length, offset: input.offset, limit: input.limit };
  },
});

function nextActionsTool(defaults: TaskDefaults): Tool {
  return defineTool({
    name: 'task_next_actions',
    title: 'Next actions',
    description:
      'List tasks that are ready to start, highest priority first; lapsed ones can be taken over. Claim one with task_update.',
    errorPattern: 'B',
    normalize: acceptNulls(nextActionsInput),
    explainUnknown: explainAliases(nextActionsInput),
    inputSchema: nextActionsInput,
    outputSchema: nextActionsOutput,
    access: 'read',
    idempotent: true,
    codes: ['ERR_PROJECT_NOT_FOUND'],
    handle: async ({ project = defaults.project, limit, include_blocked }, { db, actor, at, liveness }) => {
      const isActive = project === defaults.project;
      if (!isActive && !(await hasProject(db, project))) throw projectNotFound(project);
      const context = { liveness, at, ttlMs: defaults.claimTtlMs };
      const queue = { project, limit, actor };
      const actions = await listNextActions(db, queue, context);
      return {
        next_actions: actions,
        count: actions.length,
        project,
        ...(actions.length === 0 && isActive ? await hintOfEmptyQueue(db, queue) : {}),
        ...(include_blocked ? { blocked: await listBlocked(db, queue, context) } : {}),
      };
    },
  });
}

const MAX_DEPENDENTS = 500;

/** Whether options of the project decide about the step, or about the one after it. */
function isGated(status: unknown): boolean {
  return Object.values<Workflow>(WORKFLOWS).some(({ done, review }) => status === done || status === review);
}

interface Updated {
  /** The fencing token of the claim; null if the task was never claimed. */
  readonly claim: number | null;
  readonly isClaim: boolean;
  readonly warnings: readonly string[];
}

function describeUpdate(before: Task, after: Task, { claim, isClaim, warnings }: Updated) {
  const { task_id, status, progress, assignee, updated_at, updated_by, holder, taken_from } = after;
  return {
    task_id,
    status,
    progress,
    assignee,
    updated_at,
    updated_by,
    ...(holder === null ? {} : { holder }),
    // A takeover can end in review: the caller does not know its token yet, although it holds the task no longer.
    ...(claim === null || (holder === null && !isClaim) ? {} : { claim }),
    ...(isClaim && taken_from !== null ? { taken_from } : {}),
    ...(status === before.status ? {} : { previous_status: before.status }),
    ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
  };
}

async function readTrail(db: Reader, taskNo: number): Promise<Readonly<Record<string, unknown>>> {
  const evidence = await readEvidence(db, taskNo);
  const { observations } = evidence;
  return {
    ...cutAnswer('thought_trail', await listThoughtLines(db, taskNo)),
    ...cutAnswer('evidence', evidence),
    ...(observations === undefined ? {} : { observations_total: observations, truncated: true }),
  };
}

async function requireTask(db: Reader, taskId: string): Promise<TokenedTask> {
  const task = await findTokenedTask(db, taskId);
  if (task !== undefined) return task;
  throw taskNotFound(taskId);
}

function projectNotFound(project: string): ColibriError {
  const advice = `call task_create with "project":"${project}" to create it`;
  return new ColibriError('ERR_PROJECT_NOT_FOUND', `no project ${project}`, { project }, { advice });
}

/** Runs after the change, inside its transaction: if two processes close a cycle from both sides, one is refused. */
async function assertNoNewCycle(db: Transaction, before: Task | undefined, after: Task): Promise<void> {
  if (!mayCloseCycle(before, after)) return;
  await assertAcyclic(parseId(after.task_id), (request) => readLinks(db, request));
}
