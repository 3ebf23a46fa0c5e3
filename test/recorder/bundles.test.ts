import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { finished, inherited } from '../support/cli-project.ts';
import { PROGRAM } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { post, RecordedProject, SILENT } from './recorded-project.ts';
import { SECRETS } from './secret-samples.ts';

describe('the bundles of the recorder', () => {
  promiseTest('recorder/secrets', 'no byte of one is in the spool, at any level of content', async () => {
    const project = new RecordedProject();
    const all = SECRETS.map(({ text }) => text).join('\n');
    const payloads = SECRETS.map(({ text, kind }) =>
      post({
        session_id: `session ${text}`,
        tool_use_id: `${kind} ${text}`,
        tool_name: kind.length % 2 === 0 ? 'Bash' : text,
        transcript_path: `/tmp/${text}`,
        tool_input: { command: `run ${text}`, [text]: text, nested: JSON.stringify({ text }) },
        tool_response: JSON.stringify({ ok: true, data: { text } }),
      }),
    );
    payloads.push(post({ tool_response: { stdout: all, stderr: all, interrupted: false } }), all, `{"broken": ${all}`);
    // One process for all of them: the same bundle, called as often as there are events.
    const each = payloads.map((_, index) => ({ COLIBRI_RECORD: ['full', '', 'digests'][index % 3] ?? '' }));
    writeFileSync(project.path('payloads.json'), JSON.stringify(payloads));
    writeFileSync(project.path('each.json'), JSON.stringify(each));
    writeFileSync(project.path('run.cjs'), RUN_ALL);
    const { status, stderr } = await finished(
      spawn(process.execPath, ['run.cjs', join(PROGRAM, '../hook.cjs')], { cwd: project.folder, env: inherited() }),
    );
    expect([status, stderr]).toEqual([0, '']);
    expect(project.events()).toHaveLength(payloads.length);
    const stored = readdirSync(project.spool).map((name) => readFileSync(join(project.spool, name), 'utf8'));
    for (const { kind, secret } of SECRETS)
      for (const [index, text] of stored.entries()) {
        const plain = text.replaceAll(/\\+n/g, '\n').replaceAll(/\\+/g, '');
        expect(text.includes(secret) || plain.includes(secret), `${kind} in ${index}: ${text}`).toBe(false);
      }
  });

  promiseTest(
    'recorder/clients',
    'the plug-in for opencode reports calls and sessions in order, and survives a missing program',
    async () => {
      const project = new RecordedProject();
      const source = readFileSync(join(PROGRAM, '../opencode-plugin.js'), 'utf8');
      const command = [process.execPath, PROGRAM].map((part) => JSON.stringify(part)).join(', ');
      expect(source.split('\n')).toContain("const COMMAND = ['colibri'];");
      writeFileSync(project.path('plugin.mjs'), source.replace("['colibri']", `[${command}]`));
      writeFileSync(project.path('missing.mjs'), source.replace("['colibri']", "['colibri-that-is-not-there']"));
      writeFileSync(project.path('opencode.mjs'), OPENCODE);
      const { status, stdout, stderr } = await finished(
        spawn(process.execPath, ['opencode.mjs'], { cwd: project.folder, env: inherited() }),
      );
      expect({ status, stdout, stderr }).toEqual(SILENT);
      const facts = project
        .events()
        .map(({ client, event, call_id: id, exit_code: code }) => `${client} ${event} ${id} ${code}`);
      expect(facts).toEqual([
        'opencode tool.execute.before call_1 null',
        'opencode tool.execute.after call_1 3',
        'opencode message.part.updated call_2 null',
        'opencode tool.execute.after call_4 0',
        'opencode tool.execute.after call_5 null',
        'opencode session.idle evt_2 null',
      ]);
    },
  );
});

/** Runs the bundle in one process with one input after the other in place of standard input. */
const RUN_ALL = `
const { readFileSync } = require('node:fs');
const { Readable } = require('node:stream');
const { run } = require(process.argv[2]);
const payloads = JSON.parse(readFileSync('payloads.json', 'utf8'));
const each = JSON.parse(readFileSync('each.json', 'utf8'));
process.setMaxListeners(0);
// Otherwise the bundle reads the pipe without this stream.
process.binding = undefined;
(async () => {
  for (const [index, payload] of payloads.entries()) {
    Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(payload)]), configurable: true });
    Object.assign(process.env, each[index]);
    await run(['hook']);
  }
})();
`;

/** Calls a plug-in as opencode does. */
const OPENCODE = `
for (const file of ['./plugin.mjs', './missing.mjs']) {
  const module = await import(file);
  const [create, ...others] = Object.values(module);
  if (others.length > 0) throw new Error('opencode would start every export as a plug-in');
  const hooks = await create({ directory: process.cwd() });
  const call = { tool: 'bash', sessionID: 'ses_1', callID: 'call_1' };
  await hooks['tool.execute.before'](call, { args: { command: 'exit 3' } });
  await hooks['tool.execute.after']({ ...call, args: { command: 'exit 3' } }, { output: '', metadata: { exit: 3 } });
  for (const status of ['running', 'error', 'completed']) {
    const part = { type: 'tool', tool: 'edit', callID: 'call_2', state: { status, input: {}, error: 'no such file' } };
    await hooks.event({ event: { id: 'evt_3', type: 'message.part.updated', properties: { sessionID: 'ses_1', part } } });
  }
  const cyclic = { command: 'true', size: 1n };
  cyclic.self = cyclic;
  const throws = { get command() { throw new Error('no'); } };
  for (const [callID, args] of Object.entries({ call_4: cyclic, call_5: throws }))
    await hooks['tool.execute.after']({ ...call, callID, args }, { output: '', metadata: { exit: 0 } });
  await hooks.event({ event: { id: 'evt_1', type: 'session.status', properties: { sessionID: 'ses_1' } } });
  await hooks.event({ event: { id: 'evt_2', type: 'session.idle', properties: { sessionID: 'ses_1' } } });
}
process.exit(0);
`;
