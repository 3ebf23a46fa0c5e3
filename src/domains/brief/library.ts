import type { ReadContext } from '../../context.ts';
import { ColibriError } from '../../errors.ts';
import type { Library, ResourceText } from '../../middleware/library.ts';
import { MAX_BRIEF_TOKENS, renderBrief } from './brief.ts';
import { fitTask } from './fit-task.ts';
import { assertArguments, auditPrompt, briefPrompt, handOverPrompt, PROMPTS } from './prompts.ts';
import { readBrief } from './repository.ts';
import { estimateTokens } from './tokens.ts';

const BRIEF_URI = 'colibri://brief';
const TASK_URI = 'colibri://task/';
const MAX_URI_LENGTH = 256;
const [MARKDOWN, JSON_TYPE] = ['text/markdown', 'application/json'];

export interface LibraryPorts {
  readonly project: string;
  /** Undefined if silence alone lapses no claim. */
  readonly claimTtlMs: number | undefined;
  /** A task with its trail, as `task_get` shows it. Throws ERR_NOT_FOUND. */
  readonly readTask: (context: ReadContext, taskId: string) => Promise<Readonly<Record<string, unknown>>>;
}

/** The resources and prompts: views of the ledger for clients that show them. The tools do not depend on them. */
export function createLibrary({ project, claimTtlMs, readTask }: LibraryPorts): Library {
  const brief = async ({ db, actor, isUnconfirmed, predecessors, liveness, at }: ReadContext) => {
    const query = { agent: actor, predecessors, project };
    const found = await readBrief(db, query, { liveness, at, ttlMs: claimTtlMs });
    return renderBrief({ ...found, is_unconfirmed: isUnconfirmed === true });
  };
  const task = async (context: ReadContext, taskId: string, frame = '') =>
    fitTask(await readTask(context, taskId), MAX_BRIEF_TOKENS - estimateTokens(frame));
  /** A prompt and its task share the tokens of a brief. */
  const taskPrompt = async (context: ReadContext, taskId: string, render: (task: string) => string) =>
    render(await task(context, taskId, render('')));
  return {
    resources: [
      {
        uri: BRIEF_URI,
        name: 'brief',
        title: 'Brief',
        description: 'What is yours, what changed since your last call, the last decisions, what to call next',
        mimeType: MARKDOWN,
      },
    ],
    templates: [
      {
        uriTemplate: `${TASK_URI}{id}`,
        name: 'task',
        title: 'Task',
        description: 'One task with its last thoughts',
        mimeType: JSON_TYPE,
      },
    ],
    prompts: PROMPTS,
    readResource: async (uri, context): Promise<ResourceText | undefined> => {
      if (uri === BRIEF_URI) return { mimeType: MARKDOWN, text: await brief(context) };
      const taskId = taskIdOf(uri);
      if (taskId === undefined) return undefined;
      try {
        return { mimeType: JSON_TYPE, text: await task(context, taskId) };
      } catch (error) {
        if (error instanceof ColibriError && error.code === 'ERR_NOT_FOUND') return undefined;
        throw error;
      }
    },
    readPrompt: async (name, args, context) => {
      const prompt = PROMPTS.find((candidate) => candidate.name === name);
      if (prompt === undefined) return undefined;
      assertArguments(prompt, args);
      const { task_id: taskId = '', to } = args;
      if (name === 'brief') return briefPrompt(await brief(context));
      if (name === 'hand_over')
        return taskPrompt(context, taskId, (shown) => handOverPrompt(shown, taskId, to || undefined));
      return taskPrompt(context, taskId, (shown) => auditPrompt(shown, taskId));
    },
  };
}

function taskIdOf(uri: string): string | undefined {
  if (!uri.startsWith(TASK_URI) || uri.length > MAX_URI_LENGTH) return undefined;
  try {
    return decodeURIComponent(uri.slice(TASK_URI.length)) || undefined;
  } catch {
    return undefined;
  }
}
