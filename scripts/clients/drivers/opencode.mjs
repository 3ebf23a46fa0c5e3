import { join } from 'node:path';
import { findNative } from '../native.mjs';

export const opencode = {
  id: 'opencode',
  initName: 'opencode',
  name: 'opencode',
  package: 'opencode-ai',
  version: '1.18.33',
  // The baseline build runs on every processor.
  program: (folder) => findNative(folder, /^opencode-(?:linux|darwin|windows)-/, 'bin/opencode'),
  args: (prompt) => ['run', '--model', 'scripted/scripted', prompt],
  /** The model comes from the user's configuration. */
  prepare({ home, modelUrl, write }) {
    write(home, '.config/opencode/opencode.json', {
      autoupdate: false,
      share: 'disabled',
      permission: 'allow',
      provider: {
        scripted: {
          npm: '@ai-sdk/openai-compatible',
          name: 'scripted',
          options: { baseURL: `${modelUrl}/v1`, apiKey: 'scripted' },
          models: { scripted: { name: 'scripted', tool_call: true, limit: { context: 100_000, output: 8000 } } },
        },
      },
    });
  },
  env: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  }),
  spell: {
    tool: (tool, input) => ({ name: `colibri_${tool}`, input }),
    command: (command) => ({ name: 'bash', input: { command, description: 'Run the command' } }),
    create: (path, content, { project }) => ({ name: 'write', input: { filePath: join(project, path), content } }),
    replace: (path, before, after, { project }) => ({
      name: 'edit',
      input: { filePath: join(project, path), oldString: before, newString: after },
    }),
  },
  hasNoSessionEnd: true,
  limits: { coverage: 'names no transcript' },
};
