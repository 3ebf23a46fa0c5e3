import { devNull } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { createGitEnvironment } from '../config.ts';
import { runGit } from './run-git.ts';

/** Below this line `git commit --verbose` shows the change, which is not part of the message. */
const SCISSORS = /^.{1,8} -{4,} >8 -{4,}$/m;

/** The message without comments, as git would store it. */
export async function readMessage(text: string): Promise<string> {
  const [message = ''] = text.split(SCISSORS, 1);
  return runGit(['stripspace', '--strip-comments'], { env: createGitEnvironment(), input: message });
}

/** Adds trailers to the file of a commit message, except those whose key it already has. */
export async function addTrailers(file: string, trailers: Readonly<Record<string, string>>): Promise<void> {
  const path = isAbsolute(file) ? file : resolve(file);
  await runGit(
    [
      ...(await commentCharacter()),
      ...'interpret-trailers --in-place --no-divider --if-exists doNothing --if-missing add'.split(' '),
      ...Object.entries(trailers).flatMap(([key, value]) => ['--trailer', `${key}: ${value}`]),
      path,
    ],
    { env: withoutConfiguration() },
  );
}

/** Git runs the commands of `trailer.*.command` for every message, wherever they were configured. */
function withoutConfiguration(): NodeJS.ProcessEnv {
  return createGitEnvironment({
    GIT_DIR: devNull,
    GIT_WORK_TREE: undefined,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_SYSTEM: devNull,
    GIT_CONFIG_GLOBAL: devNull,
    GIT_CONFIG_COUNT: undefined,
    GIT_CONFIG_PARAMETERS: undefined,
    // For versions that do not know the variables above.
    HOME: devNull,
    XDG_CONFIG_HOME: devNull,
  });
}

/** Comments end the message, so git must know how they begin here. */
async function commentCharacter(): Promise<string[]> {
  try {
    const found = (await runGit(['config', '--get', 'core.commentChar'], { env: createGitEnvironment() })).trim();
    return found === '' || found === 'auto' ? [] : ['-c', `core.commentChar=${found}`];
  } catch {
    return [];
  }
}
