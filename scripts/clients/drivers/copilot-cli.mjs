import { join } from 'node:path';
import { findNative } from '../native.mjs';

export const copilotCli = {
  id: 'copilot-cli',
  initName: 'copilot',
  name: 'Copilot CLI',
  package: '@github/copilot',
  version: '1.0.102',
  program: (folder) => findNative(folder, /^@github\/copilot-(?:linux|linuxmusl|darwin|win32)-/, 'copilot'),
  args: (prompt) => ['-p', prompt, '--allow-all-tools', '--allow-all-paths', '--trust-folder', '--no-auto-update'],
  prepare() {},
  env: ({ home, modelUrl }) => ({
    COPILOT_HOME: join(home, '.copilot'),
    COPILOT_OFFLINE: 'true',
    COPILOT_AUTO_UPDATE: 'false',
    COPILOT_MODEL: 'scripted',
    COPILOT_PROVIDER_BASE_URL: `${modelUrl}/v1`,
    COPILOT_PROVIDER_API_KEY: 'scripted',
  }),
  spell: {
    tool: (tool, input) => ({ name: `colibri-${tool}`, input }),
    command: (command) => ({
      name: 'bash',
      input: { command, description: 'Run the command', mode: 'sync', initial_wait: 30 },
    }),
    create: (path, content, { project }) => ({
      name: 'create',
      input: { path: join(project, path), file_text: content },
    }),
    replace: (path, before, after, { project }) => ({
      name: 'edit',
      input: { path: join(project, path), old_str: before, new_str: after },
    }),
  },
};
