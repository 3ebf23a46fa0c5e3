import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { expect } from 'vitest';
import type { Connected } from './official-clients.ts';

interface Answer {
  readonly ok: boolean;
  readonly data: Record<string, unknown>;
  readonly error?: { readonly code: string; readonly details?: unknown };
}

type Call = (name: string, args?: Record<string, unknown>) => Promise<Answer>;

/** Calls tools as an agent does; every answer must fit the schema that the server announced for the tool. */
export async function createCall(client: Connected): Promise<Call> {
  const validator = new AjvJsonSchemaValidator();
  const validators = new Map(
    (await client.listTools()).map(({ name, outputSchema }) => [
      name,
      validator.getValidator(outputSchema ?? { not: {} }),
    ]),
  );
  return async (name, args = {}) => {
    const { structuredContent, content, isError } = await client.callTool(name, args);
    expect(validators.get(name)?.(structuredContent), `${name} answered ${JSON.stringify(content)}`).toMatchObject({
      valid: true,
    });
    const answer = structuredContent as Answer;
    const [first] = content as { text: string }[];
    const lines = first?.text.split('\n') ?? [];
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual(answer);
    expect(isError ?? false, name).toBe(!answer.ok || answer.data['ok'] === false);
    expect(lines.slice(0, -1), name).toEqual(isError ? [expect.stringMatching(/^[A-Z_]+: .+\.$/)] : []);
    return answer;
  };
}

/** A task from its creation to its sealed session, with one shortcut that is refused; returns the sealed root. */
export async function playSession(call: Call): Promise<unknown> {
  const { data: task } = await call('task_create', { title: 'Cache the parser', status: 'todo', priority: 'high' });
  const task_id = task['task_id'];
  const { data: queue } = await call('task_next_actions');
  expect(queue['next_actions']).toMatchObject([{ task_id, priority: 'high' }]);
  const update = (change: Record<string, unknown>) => call('task_update', { task_id, ...change });

  expect((await update({ status: 'in_progress' })).data).toMatchObject({ previous_status: 'todo' });
  expect((await update({ status: 'in_progress' })).data).toMatchObject(refusal('ERR_INVALID_TRANSITION'));
  await update({ status: 'review' });
  expect((await update({ status: 'done' })).data).toMatchObject(refusal('ERR_WRITEBACK_REQUIRED'));
  const thought = { task_id, type: 'decision', content: 'Parsing took 40 % of the start, so its result is kept.' };
  expect((await call('thought_record', thought)).error).toMatchObject({
    code: 'HANDLER_ERROR',
    details: { code: 'ERR_SESSION_REQUIRED' },
  });

  const { data: session } = await call('audit_session_start', { task_id, auditor_id: 'official-client' });
  const session_id = session['session_id'];
  expect((await call('thought_record', thought)).data).toMatchObject({ chain_position: 1, session_id });
  expect((await update({ status: 'done' })).data).toMatchObject({ status: 'done', previous_status: 'review' });
  await checkRecords(call, { task_id, session_id, content: thought.content });

  const { data: sealed } = await call('merkle_finalize', { session_id });
  expect(sealed).toMatchObject({ frozen: true, leaf_count: 2 });
  const { data: root } = await call('merkle_root', { session_id });
  expect(root).toMatchObject({ is_finalized: true, merkle_root: sealed['merkle_root'] });
  expect((await call('merkle_finalize', { session_id })).data).toMatchObject(refusal('ERR_ALREADY_FINALIZED'));
  return root['merkle_root'];
}

async function checkRecords(call: Call, ids: { task_id: unknown; session_id: unknown; content: string }) {
  const { task_id, session_id, content } = ids;
  expect((await call('task_get', { task_id, include_thought_trail: true })).data).toMatchObject({
    status: 'done',
    thought_trail: [expect.stringContaining(content)],
  });
  expect((await call('task_list', { status: ['done'] })).data).toMatchObject({ total_count: 1 });
  const { data: thoughts } = await call('thought_record_list', { task_id, verify_chain: true });
  expect(thoughts).toMatchObject({ thought_count: 1, chain_valid: true, thoughts: [{ content }] });
  const verified = { chain_valid: true, integrity_score: 100, broken_links: [] };
  expect((await call('audit_verify_chain', { task_id })).data).toMatchObject(verified);
  expect((await call('audit_verify_chain', { session_id, full_trace: true })).data).toMatchObject(verified);
}

function refusal(code: string) {
  return { ok: false, error: { code } };
}
