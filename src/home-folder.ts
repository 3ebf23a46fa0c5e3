import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';

/** The user's home folder; undefined for a user without one, as in many containers. An empty HOME counts as none. */
export function findHomeFolder(): string | undefined {
  for (const look of [homedir, () => userInfo().homedir]) {
    try {
      const folder = look();
      if (isAbsolute(folder)) return folder;
    } catch {
      // Neither the environment nor the system knows this user.
    }
  }
  return undefined;
}
