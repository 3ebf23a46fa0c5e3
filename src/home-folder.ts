import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';

/** Returns undefined for a user without a home folder, as in many containers. An empty HOME counts as unset. */
export function findHomeFolder(): string | undefined {
  for (const look of [homedir, () => userInfo().homedir]) {
    try {
      const folder = look();
      if (isAbsolute(folder)) return folder;
    } catch {
      // The system does not know this user.
    }
  }
  return undefined;
}
