import { join } from 'node:path';

export const codex = {
  id: 'codex',
  initName: 'codex',
  name: 'Codex',
  package: '@openai/codex',
  version: '0.166.0',
  program: (folder) => [process.execPath, join(folder, 'node_modules/@openai/codex/bin/codex.js')],
  args: (prompt) => ['exec', '--dangerously-bypass-approvals-and-sandbox', '--dangerously-bypass-hook-trust', prompt],
  /** The user trusts the project. The model comes from the user's configuration. */
  prepare({ home, project, modelUrl, write }) {
    write(
      home,
      '.codex/config.toml',
      `model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "${modelUrl}/v1"
wire_api = "responses"
[projects."${project}"]
trust_level = "trusted"
`,
    );
  },
  env: ({ home }) => ({ CODEX_HOME: join(home, '.codex') }),
  spell: {
    tool: (tool, input) => ({ name: tool, namespace: 'mcp__colibri', input }),
    command: (command) => ({ name: 'exec_command', input: { cmd: command } }),
    create: (path, content) => ({
      name: 'apply_patch',
      input: `*** Begin Patch\n*** Add File: ${path}\n${lines('+', content)}*** End Patch\n`,
    }),
    replace: (path, before, after) => ({
      name: 'apply_patch',
      input: `*** Begin Patch\n*** Update File: ${path}\n@@\n${lines('-', before)}${lines('+', after)}*** End Patch\n`,
    }),
  },
  // A failed MCP call has no after-event: the recorder ends it at the stop.
  hidesExitCodes: true,
  limits: { actions: 'no exit codes' },
};

const lines = (sign, text) => text.replaceAll(/^(?=.)/gm, sign);
