import { join } from 'node:path';

export const geminiCli = {
  id: 'gemini-cli',
  initName: 'gemini',
  name: 'Gemini CLI',
  package: '@google/gemini-cli',
  version: '0.61.0',
  program: (folder) => [process.execPath, join(folder, 'node_modules/@google/gemini-cli/bundle/gemini.js')],
  // Without a model of its own choice, it asks one to choose.
  args: (prompt) => ['--yolo', '-m', 'gemini-2.5-pro', '-p', prompt],
  /** The user trusts the folder and has chosen a key. */
  prepare({ home, project, write }) {
    write(home, '.gemini/trustedFolders.json', { [project]: 'TRUST_FOLDER' });
    write(home, '.gemini/settings.json', {
      security: { auth: { selectedType: 'gemini-api-key' } },
      general: { enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
    });
  },
  env: ({ home, modelUrl }) => ({
    GEMINI_CLI_HOME: home,
    GOOGLE_GEMINI_BASE_URL: modelUrl,
    GEMINI_API_KEY: 'scripted',
    GEMINI_SANDBOX: 'false',
  }),
  spell: {
    tool: (tool, input) => ({ name: `mcp_colibri_${tool}`, input }),
    command: (command) => ({ name: 'run_shell_command', input: { command, description: 'Run the command' } }),
    create: (path, content, { project }) => ({
      name: 'write_file',
      input: { file_path: join(project, path), content },
    }),
    replace: (path, before, after, { project }) => ({
      name: 'replace',
      input: {
        file_path: join(project, path),
        instruction: 'Replace the greeting',
        old_string: before,
        new_string: after,
      },
    }),
  },
  // Its shell has an empty core.hooksPath, so that no repository can run a program.
  limits: { commit: 'runs no git hooks', evidence: 'commits only said', 'verify --git': 'nothing to check' },
};
