import { join } from 'node:path';
import { findNative } from '../native.mjs';

/** Claude Code. A native program; the package only links it. */
export const claudeCode = {
  id: 'claude-code',
  initName: 'claude-code',
  name: 'Claude Code',
  package: '@anthropic-ai/claude-code',
  version: '2.1.325',
  program: (folder) => findNative(folder, /^@anthropic-ai\/claude-code-/, 'claude'),
  args: (prompt) => ['-p', prompt, '--permission-mode', 'bypassPermissions'],
  /** The user trusts the folder and approves the server. */
  prepare({ home, project, write, merge }) {
    write(home, '.claude.json', {
      hasCompletedOnboarding: true,
      projects: { [project]: { hasTrustDialogAccepted: true } },
    });
    merge(project, '.claude/settings.local.json', { enabledMcpjsonServers: ['colibri'] });
  },
  env: ({ modelUrl }) => ({
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: 'scripted',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    // It refuses to skip permissions for root outside a sandbox.
    IS_SANDBOX: '1',
  }),
  spell: {
    tool: (tool, input) => ({ name: `mcp__colibri__${tool}`, input }),
    command: (command) => ({ name: 'Bash', input: { command, description: 'Run the command' } }),
    create: (path, content, { project }) => ({ name: 'Write', input: { file_path: join(project, path), content } }),
    replace: (path, before, after, { project }) => ({
      name: 'Edit',
      input: { file_path: join(project, path), old_string: before, new_string: after },
    }),
  },
};
