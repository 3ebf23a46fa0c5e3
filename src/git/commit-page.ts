import { createGitEnvironment } from '../config.ts';
import { runGit } from './run-git.ts';

const TIMEOUT_MS = 2000;

/** Returns the address of the page of a commit. */
export type CommitPage = (sha: string) => string;

/** Undefined without a repository around the folder, and if its origin is at a host whose pages are unknown. */
export async function findCommitPage(folder: string): Promise<CommitPage | undefined> {
  try {
    const options = { cwd: folder, env: createGitEnvironment(), timeoutMs: TIMEOUT_MS };
    return commitPageOf((await runGit(['config', '--get', 'remote.origin.url'], options)).trim());
  } catch {
    // A page shows the same without links.
    return undefined;
  }
}

const HTTPS = /^https:\/\/(?:[^/@\s]*@)?(?<host>[a-z\d.-]+(?::\d+)?)\/(?<path>[^?#\s]+)$/i;
/** The port is that of SSH, not that of the pages. */
const SSH = /^ssh:\/\/(?:[^/@\s]*@)?(?<host>[a-z\d.-]+)(?::\d+)?\/(?<path>[^?#\s]+)$/i;
const SCP = /^(?:[^/@:\s]*@)?(?<host>[a-z\d.-]+):(?<path>[^/:?#\s][^?#\s]*)$/i;
/** A name that needs no escape in an address. */
const NAME = /^[\w.~-]+$/;

/** The name and password in the remote are left out: an address is shown and opened. */
export function commitPageOf(remote: string): CommitPage | undefined {
  const { host = '', path = '' } = (HTTPS.exec(remote) ?? SSH.exec(remote) ?? SCP.exec(remote))?.groups ?? {};
  const name = path.replace(/\/$/, '').replace(/\.git$/, '');
  const kind = host
    .toLowerCase()
    .split('.')
    .slice(0, -1)
    .find((label) => label === 'github' || label === 'gitlab');
  const names = name.split('/');
  if (kind === undefined || names.length < 2 || !names.every(isPlainName)) return undefined;
  const base = `https://${host.toLowerCase()}/${name}/${kind === 'gitlab' ? '-/' : ''}commit/`;
  return (sha) => base + encodeURIComponent(sha);
}

/** False for a name that would lead out of its folder. */
function isPlainName(name: string): boolean {
  return NAME.test(name) && name !== '.' && name !== '..';
}
