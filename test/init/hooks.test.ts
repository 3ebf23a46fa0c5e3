import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect } from 'vitest';
import { hookLine } from '../../src/cli/init/hooks/hook-command.ts';
import { HOOK_TARGETS } from '../../src/cli/init/hooks/hook-targets.ts';
import { listSpool, readSpoolFile } from '../../src/recorder/spool.ts';
import { fillReserve } from '../../src/recorder/spool-reserve.ts';
import { promiseTest } from '../support/promise-test.ts';
import { makeProject } from './init-project.ts';

const HOOK = `${process.execPath} ${resolve('dist/colibri.cjs')} hook`;

/** A file by which the client is detected, the file with its hooks, the events, and one of the hooks. */
const EXPECTED: Record<string, [mark: string, path: string, events: string, event: string, hook: unknown]> = {
  'claude-code': [
    'CLAUDE.md',
    '.claude/settings.local.json',
    'SessionStart PostToolUse PostToolUseFailure Stop SubagentStop SessionEnd',
    'PostToolUse',
    { matcher: '*', hooks: [{ type: 'command', command: HOOK, timeout: 5 }] },
  ],
  codex: [
    '.codex/x',
    '.codex/hooks.json',
    'SessionStart PreToolUse PostToolUse Stop Interrupt SubagentStop SessionEnd',
    'Stop',
    { hooks: [{ type: 'command', command: `${HOOK} --client codex`, timeout: 5 }] },
  ],
  cursor: [
    '.cursor/x',
    '.cursor/hooks.json',
    'sessionStart postToolUse postToolUseFailure stop subagentStop sessionEnd',
    'stop',
    { command: `${HOOK} --client cursor`, timeout: 5 },
  ],
  gemini: [
    'GEMINI.md',
    '.gemini/settings.json',
    'SessionStart AfterTool AfterAgent SessionEnd',
    'AfterTool',
    {
      matcher: '*',
      hooks: [{ name: 'colibri', type: 'command', command: `${HOOK} --client gemini-cli`, timeout: 5000 }],
    },
  ],
  vscode: [
    '.vscode/x',
    '.github/hooks/colibri.json',
    'sessionStart postToolUse postToolUseFailure agentStop subagentStop sessionEnd',
    'agentStop',
    {
      type: 'command',
      bash: `${HOOK} --event agentStop`,
      powershell: `${HOOK} --event agentStop`,
      timeoutSec: 5,
    },
  ],
  copilot: [
    '.github/copilot-instructions.md',
    '.github/hooks/colibri.json',
    'sessionStart postToolUse postToolUseFailure agentStop subagentStop sessionEnd',
    'postToolUse',
    {
      type: 'command',
      bash: `${HOOK} --event postToolUse`,
      powershell: `${HOOK} --event postToolUse`,
      timeoutSec: 5,
    },
  ],
  windsurf: [
    '.windsurf/x',
    '.windsurf/hooks.json',
    'post_run_command post_write_code post_read_code post_mcp_tool_use post_cascade_response',
    'post_run_command',
    { command: `${HOOK} --client windsurf`, powershell: `${HOOK} --client windsurf`, show_output: false },
  ],
};

const MARKS = Object.fromEntries(Object.values(EXPECTED).map(([mark]) => [mark, '']));

type HookMap = Record<string, Record<string, unknown>[]>;

function hooksOf(project: ReturnType<typeof makeProject>, path: string): HookMap {
  return (project.readJson(path) as { hooks: HookMap }).hooks;
}

/** Runs a command line as clients do. */
function runLine(line: string, input: string, cwd: string) {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', line], { cwd, input, encoding: 'utf8' });
  return { status, stdout, stderr };
}

function spooled(root: string): unknown[] {
  const spool = join(root, '.colibri', 'spool');
  return listSpool(spool).map((name) => JSON.parse(readSpoolFile(spool, name) ?? '') as unknown);
}

describe('colibri init --record', () => {
  promiseTest('record/clients', 'Codex 0.166.0 warns about more than three seconds at the end of a session', () => {
    const codex = HOOK_TARGETS.find(({ clients }) => clients.includes('codex'))?.lists;
    expect(codex?.item('SessionEnd', ['colibri'])).toEqual({
      hooks: [{ type: 'command', command: 'colibri hook --client codex', timeout: 3 }],
    });
  });

  promiseTest('record/clients', 'those that are found in the project, each in its own file', () => {
    const project = makeProject(MARKS);
    const before = project.snapshot();
    const { code, stdout, stderr } = project.run('init', '--record', '--no-instructions');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const [id, [, path, events, event, hook]] of Object.entries(EXPECTED)) {
      const written = hooksOf(project, path);
      expect(Object.keys(written).join(' '), id).toBe(events);
      expect(written[event], id).toEqual([hook]);
    }
    expect(stdout).toContain('To record what agents do:\n');
    const once = project.snapshot();
    expect(project.run('init', '--record', '--no-instructions').stdout).toContain('Already set up; nothing changed.');
    expect(project.snapshot()).toEqual(once);
    project.run('init', '--undo');
    expect(project.snapshot()).toEqual(before);
  });

  promiseTest('record/clients', 'this test covers every client that can report events', () => {
    const ids = HOOK_TARGETS.flatMap(({ clients }) => clients);
    expect(ids.toSorted()).toEqual([...Object.keys(EXPECTED), 'opencode'].toSorted());
    for (const { clients, nextSteps } of HOOK_TARGETS) expect(Object.keys(nextSteps)).toEqual(clients);
  });

  promiseTest('record/clients', 'the installed commands record what the clients really write', () => {
    const project = makeProject(MARKS);
    project.run('init', '--record', '--no-instructions');
    const line = (path: string, event: string) => {
      const [item = {}] = hooksOf(project, path)[event] ?? [];
      const inner = (item['hooks'] as Record<string, string>[] | undefined)?.[0];
      return String(inner?.['command'] ?? item['command'] ?? item['bash']);
    };
    const payload = (file: string, at: number) =>
      readFileSync(`test/recorder/payloads/${file}.jsonl`, 'utf8').split('\n')[at] ?? '';
    const sent = [
      ['.claude/settings.local.json', 'PostToolUse', payload('claude-code-2.1.325', 3)],
      ['.codex/hooks.json', 'PreToolUse', payload('codex-0.166.0', 2)],
      ['.gemini/settings.json', 'AfterTool', payload('gemini-cli-0.61.0', 3)],
      ['.github/hooks/colibri.json', 'agentStop', payload('copilot-cli-1.0.102', 10)],
    ] as const;
    for (const [path, event, text] of sent)
      expect(runLine(line(path, event), text, project.root), path).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(spooled(project.root)).toMatchObject([
      { client: 'claude-code', phase: 'after' },
      { client: 'codex', phase: 'before' },
      { client: 'gemini-cli', phase: 'after' },
      { client: 'copilot-cli', event: 'agentStop', phase: 'stop' },
    ]);
  });

  promiseTest('record/clients', 'opencode gets a plug-in that reports calls and sessions', async () => {
    const project = makeProject({ '.opencode/x': '' });
    const before = project.snapshot();
    expect(project.run('init', '--record', '--no-instructions').stdout).toContain(
      'create .opencode/plugins/colibri.js\n',
    );
    const path = join(project.root, '.opencode/plugins/colibri.js');
    const module = join(project.root, 'plugin.mjs');
    writeFileSync(module, readFileSync(path));
    const { ColibriRecorder } = (await import(module)) as {
      ColibriRecorder: (context: object) => Promise<Record<string, (...values: object[]) => Promise<void>>>;
    };
    const plugin = await ColibriRecorder({ directory: project.root });
    const call = { tool: 'bash', sessionID: 's', callID: 'c' };
    await plugin['tool.execute.before']?.(call, { args: { command: 'ls' } });
    await plugin['event']?.({ event: { type: 'session.idle', properties: { sessionID: 's' } } });
    expect(spooled(project.root)).toMatchObject([{ client: 'opencode' }, { client: 'opencode' }]);
    const plugins = project.read('.opencode/plugins/colibri.js');
    for (const name of ['.colibri/spool', 'plugin.mjs']) rmSync(join(project.root, name), { recursive: true });
    // What a server keeps there is not worth keeping without hooks.
    mkdirSync(join(project.root, '.colibri', 'spool'), { mode: 0o700 });
    fillReserve(join(project.root, '.colibri', 'spool'));
    const edited = `${plugins}// mine\n`;
    project.put('.opencode/plugins/colibri.js', edited);
    const refusal = '.opencode/plugins/colibri.js has a hook of Colibri that init did not write';
    expect(project.run('init', '--record').stdout).toContain(refusal);
    expect(project.run('init', '--undo', 'opencode').stdout).toContain(refusal);
    expect(project.read('.opencode/plugins/colibri.js')).toBe(edited);
    project.put('.opencode/plugins/colibri.js', plugins);
    project.run('init', '--undo');
    expect(project.snapshot()).toEqual(before);
  });

  promiseTest('record/clients', 'a path with spaces, quotes and dollar signs reaches the program', () => {
    const project = makeProject();
    const program = join(project.root, `it's "a" $HOME`, 'colibri.cjs');
    mkdirSync(join(program, '..'));
    writeFileSync(program, 'console.log(JSON.stringify(process.argv.slice(1)))');
    const { shell } = hookLine([process.execPath, program], ['--event', 'x'], 'linux');
    expect(JSON.parse(runLine(shell, '', project.root).stdout)).toEqual([program, 'hook', '--event', 'x']);
    expect(hookLine(['C:\\Program Files\\node.exe', 'C:\\x\\colibri.cjs'], [], 'win32')).toEqual({
      shell: '"C:/Program Files/node.exe" C:/x/colibri.cjs hook',
      powershell: '& "C:/Program Files/node.exe" C:/x/colibri.cjs hook',
    });
  });

  promiseTest('record/clients', 'says what is left to do, and does nothing with --dry-run', () => {
    const project = makeProject({ '.codex/x': '', 'CLAUDE.md': '', '.vscode/x': '', '.github/mcp.json': '{}' });
    const before = project.snapshot();
    const { stdout } = project.run('init', '--record', '--dry-run', '--json');
    expect(project.snapshot()).toEqual(before);
    const { recording } = JSON.parse(stdout) as { recording: { client: string; step: string }[] };
    const steps = Object.fromEntries(recording.map(({ client, step }) => [client, step]));
    expect(Object.keys(steps).toSorted()).toEqual(['claude-code', 'codex', 'copilot', 'vscode']);
    expect(steps['codex']).toMatch(/\/hooks and trust/);
    expect(steps['copilot']).toContain('mcp_tool');
    expect(steps['vscode']).toContain('recorded once');
  });

  promiseTest('record/clients', 'in the home folder with --global, for projects with a ledger', () => {
    const project = makeProject({}, { '.claude.json': '{}', '.codeium/windsurf/x': '', '.claude/settings.json': '{}' });
    const before = project.snapshot();
    project.run('init', '--record', '--global', 'claude-code', 'windsurf');
    const read = (path: string) => JSON.parse(readFileSync(join(project.home, path), 'utf8')) as { hooks: HookMap };
    expect(read('.claude/settings.json').hooks['Stop']).toHaveLength(1);
    expect(read('.codeium/windsurf/hooks.json').hooks['post_write_code']).toHaveLength(1);
    const folder = join(project.home, 'notes');
    mkdirSync(folder);
    const payload = { session_id: 's', hook_event_name: 'Stop', cwd: folder };
    const env = { PATH: process.env['PATH'] ?? '', HOME: project.home };
    spawnSync('sh', ['-c', HOOK], { cwd: folder, env, input: JSON.stringify(payload) });
    spawnSync('rmdir', [folder]);
    project.run('init', '--undo', '--global');
    expect(project.snapshot()).toEqual(before);
  });
});
