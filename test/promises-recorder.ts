import type { Promised } from './promises-server.ts';

/** What the recorder promises: hooks of clients, git, and what is derived from them. */
export const RECORDER_PROMISES = {
  'git/commits': { says: 'a commit is recorded once, with its tree, parents, branch and changed paths' },
  'git/rewrites': { says: 'an amended or rebased commit is recorded with the commits that it replaces' },
  'git/task': {
    says: 'a commit belongs to the task that its trailer names, else to the only one that a live agent of the work tree holds',
  },
  'git/trailers': { says: 'a commit message gets the task and a checkpoint of the log as trailers, once' },
  'git/never-fails': { says: 'a commit neither fails nor waits for long because of the recorder' },
  'git/install': {
    says: 'init --record adds to the hooks of git that are there, and --undo restores them to the byte',
  },
  'git/verify': { says: 'verify --git compares the log and the commits of a repository, claim by claim' },
  'git/untrusted': { says: 'nothing of a repository is run, and no hook is written where it does not belong' },
  'record/clients': {
    says: 'init --record registers, for each client, a command that records what the client reports',
  },
  'record/merges': { says: 'init --record keeps the hooks of others, and the text around its own' },
  'record/undo': { says: 'init --undo removes the hooks of the recorder, and restores each file to the byte' },
  'record/refuses': { says: 'init --record changes nothing if one of the files cannot be edited safely' },
  'record/doctor': { says: 'doctor proves each hook by an event that arrives in the spool and is never recorded' },
  'recorder/clients': { says: 'what a client reports to its hooks becomes one event, whichever client it is' },
  'recorder/client-check': {
    says: 'npm run clients accepts a session only if every action was observed once, with its outcome and its task',
  },
  'recorder/one-key': { says: 'two reports of one call have the same key, and two calls have two' },
  'recorder/hostile': { says: 'an event of any shape is recorded as what it is, and never fails the agent' },
  'recorder/secrets': { says: 'known shapes of secrets are blanked before an event reaches the disk' },
  'recorder/spool': { says: 'hooks that run at once lose no event, and a killed hook leaves no half of one' },
  'recorder/silent': { says: 'colibri hook prints nothing on standard output and exits with 0, whatever goes wrong' },
  'recorder/refusals': { says: 'a spool that another user or a clone could have made is not used' },
  'recorder/coverage': {
    says: 'at a stop, the calls in the transcript of the client are compared with the log, and a gap is reported',
  },
  'recorder/usage': { says: 'the tokens that a client reports are counted once, per task and model' },
  'recorder/usage-command': {
    says: 'colibri agents --usage prints tokens per task and model, and a cost where the price is known',
  },
  'recorder/gaps-shown': { says: 'commands that show what was observed also show that something is missing' },
  'recorder/transcripts': {
    says: 'a transcript of any content or size is read within limits, or refused with a reason',
  },
  'recorder/before-calls': { says: 'what a client reported before a call is in the log before that call' },
  'recorder/unanswered': { says: 'a call without an end is recorded as failed or unknown when its agent stops' },
  'recorder/signs': { says: 'what an agent does keeps its claim alive, and no claim of another agent' },
  'recorder/waiting-events': {
    says: 'servers, commands of people and the end of a session add waiting events to the ledger; readers never do',
  },
  'recorder/ingest': {
    says: 'an event that waits in the spool becomes one entry, under the task that its session holds',
  },
  'recorder/sub-agents': {
    says: 'what a sub-agent does belongs to the task that it claimed itself, and otherwise to the task of its session',
  },
  'evidence/command-lines': { says: 'an exit code counts only for the commands that it says something about' },
  'evidence/statements': { says: 'the words of a test say how it ended, or nothing' },
  'evidence/compare': { says: 'what a thought says is observed, only said, or contradicted by the last run before it' },
  'required/refused': {
    says: 'where a project requires it, done is refused until a run was observed to exit 0 after the last edit',
  },
  'required/people': { says: 'people set which runs a project requires, and finish a task without them by a reason' },
  'evidence/task': { says: 'task_get shows which words of a thought were observed, in the work on that task' },
  'evidence/shown': { says: 'show, board and log mark what was observed, only said or contradicted' },
  'evidence/exports': {
    says: 'exports mark what was observed, only said or contradicted, and what they do not hold stays said',
  },
  'evidence/bounded': { says: 'evidence of a task is read by an index, from a bounded number of observations' },
  'evidence/hostile': { says: 'hostile commands, words and long lists do not fail a task, and a cut list says so' },
} as const satisfies Record<string, Promised>;
