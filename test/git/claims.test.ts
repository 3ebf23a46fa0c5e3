import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { deflateSync, inflateSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { createGitEnvironment } from '../../src/config.ts';
import { listTips } from '../../src/git/list-trailers.ts';
import { checkCheckpoints } from '../../src/recorder/git/check-checkpoints.ts';
import { checkCommits } from '../../src/recorder/git/check-commits.ts';
import { encodeCommits, type SpooledCommit } from '../../src/recorder/git/spooled-commits.ts';
import { ingest } from '../../src/recorder/ingest.ts';
import { writeToSpool } from '../../src/recorder/spool.ts';
import { readIdentity } from '../../src/trust/ledger-identity.ts';
import { promiseTest } from '../support/promise-test.ts';
import { type TestServer, withServer } from '../support/test-server.ts';
import { GitProject, gitEnvironment } from './git-project.ts';

const env = createGitEnvironment({}, gitEnvironment());

async function record(server: TestServer, project: GitProject, commits: readonly Partial<SpooledCommit>[]) {
  mkdirSync(project.path('.colibri'), { recursive: true, mode: 0o700 });
  const whole = commits.map((fields) => ({ ...COMMIT, ...fields }) as SpooledCommit);
  const text = encodeCommits({ v: 1, at: '2026-04-08T22:00:00.000Z', folder: project.folder, commits: whole });
  writeToSpool(project.spool, text, { at: new Date(), isDurable: false });
  expect(await ingest(server.database, project.spool)).toEqual({ recorded: commits.length, rejected: 0 });
}

const COMMIT = {
  rewrites: null,
  parents: [],
  tasks: [],
  is_decided: true,
  salt: '00'.repeat(16),
  content: '{"paths":[]}',
};

const factsOf = (project: GitProject, sha: string) => {
  const [tree = '', ...parents] = project.git('log', '-1', '--format=%T %P', sha).split(' ');
  return { sha, tree, parents: parents.filter((parent) => parent !== '') };
};

/** A commit without a hook and without a file. */
const write = (project: GitProject, message: string) => {
  project.git('commit', '-q', '--allow-empty', '-m', message);
  return project.git('rev-parse', 'HEAD');
};

describe('the claims of log and repository', () => {
  promiseTest('git/verify', 'commits that are there, gone, rewritten or not what the log says', () =>
    withServer(async (server) => {
      const project = new GitProject();
      const shas = ['one', 'two', 'three'].map((message) => write(project, message));
      const [one, two, three] = shas.map((sha) => factsOf(project, sha)) as [Facts, Facts, Facts];
      const check = (folder = project.folder) =>
        server.database.read((reader) => checkCommits(reader, { env, cwd: folder }));
      const gone = { sha: 'ab'.repeat(20), tree: one.tree };
      const old = { sha: 'cd'.repeat(20), tree: one.tree };
      const none = { recorded: 0, present: 0, rewritten: 0, missing: 0, contradicted: 0, claims: [] };
      expect(await check()).toEqual(none);
      await record(server, project, [one, two, old, gone, { ...three, rewrites: old.sha }]);
      const missing = { state: 'missing', sha: gone.sha, entry: 4, problem: 'is not in this repository' };
      expect(await check()).toEqual({ ...none, recorded: 4, present: 2, rewritten: 1, missing: 1, claims: [missing] });

      // Another object under the same name, and a clone without the history, say nothing else.
      project.git('replace', one.sha, three.sha);
      project.git('clone', '-q', '--depth=1', `file://${project.folder}`, 'shallow');
      expect(await check()).toMatchObject({ present: 2, contradicted: 0 });
      expect(await check(project.path('shallow'))).toMatchObject({ present: 0, missing: 3, contradicted: 0 });
      await record(server, project, [three]);
      expect(await check(project.path('shallow'))).toMatchObject({ present: 1, missing: 3, contradicted: 0 });

      const blob = project.gitWith({ input: 'text' }, 'hash-object', '-w', '--stdin');
      const forged = [
        { ...factsOf(project, write(project, 'tree')), tree: gone.sha },
        { ...factsOf(project, write(project, 'parents')), parents: [] },
        { ...factsOf(project, write(project, 'order')), parents: [gone.sha] },
        { sha: blob, tree: one.tree },
      ];
      await record(server, project, forged);
      const { contradicted, claims } = await check();
      expect(contradicted).toBe(4);
      expect(claims.filter(({ state }) => state === 'contradicted').map(({ sha, problem }) => [sha, problem])).toEqual([
        [forged[0]?.sha, expect.stringMatching(/^has another tree in this repository: [0-9a-f]{40}$/)],
        [forged[1]?.sha, expect.stringMatching(/^has other parents in this repository: [0-9a-f]{40}$/)],
        [forged[2]?.sha, expect.stringMatching(/^has other parents in this repository: [0-9a-f]{40}$/)],
        [blob, 'is not a readable commit of this repository'],
      ]);
    }),
  );

  promiseTest('git/verify', 'checkpoints that hold, are forged, beyond the end, unreadable or of other ledgers', () =>
    withServer(async (server) => {
      const project = new GitProject();
      for (let index = 0; index < 12; index += 1) await server.createTask({ title: `Task ${index}` });
      const rootAt = async (size?: number) => {
        const identity = await server.database.read((reader) => readIdentity(reader, size));
        if (identity === undefined) throw new Error(`no root at ${size}`);
        return identity;
      };
      const { ledgerId, size } = await rootAt();
      const git = { env, cwd: project.folder };
      const check = async () => {
        const tips = await listTips(git);
        return server.database.read((reader) => checkCheckpoints(reader, { ledgerId, size }, tips, git));
      };
      const none = { found: 0, extended: 0, contradicted: 0, unreadable: 0, foreign: 0, claims: [] };
      expect(await check()).toEqual(none);
      const trailer = (value: string, ledger?: string) =>
        `x\n\nColibri-Checkpoint: ${value}${ledger === undefined ? '' : `\nColibri-Ledger: ${ledger}`}`;
      const own = ledgerId.slice(0, 8);
      for (const at of [1, 15, 16, 17, 32, 33, size]) {
        const { root } = await rootAt(at);
        write(project, trailer(`${at}:${root}`, own));
      }
      const { root } = await rootAt(16);
      // Not at the end of the message, so it is not a trailer.
      write(project, `x\n\nColibri-Checkpoint: 3:${'0'.repeat(64)}\n\nlast paragraph`);
      write(project, `x\n\ncolibri-checkpoint: 16:${root.toUpperCase()}`);
      expect(await check()).toEqual({ ...none, found: 8, extended: 8 });

      write(project, trailer(`16:${'0'.repeat(64)}`, 'another1'));
      write(
        project,
        `${trailer(`16:${root}`)}\nColibri-Checkpoint: 5:${'0'.repeat(64)}\nColibri-Ledger: ${own}\nColibri-Ledger: another1`,
      );
      expect(await check()).toEqual({ ...none, found: 9, extended: 9, foreign: 2 });

      const forged = [
        `16:${'0'.repeat(64)}`,
        `15:${root}`,
        `${size + 1}:${root}`,
        '999999999999999:'.padEnd(80, '0'),
      ].map((value) => write(project, trailer(value, own)));
      const unreadable = ['16', 'x', `0:${root}`, `-1:${root}`, `16:${root}0`, `1e1:${root}`].map((value) =>
        write(project, trailer(value)),
      );
      await record(server, project, [factsOf(project, forged[0] ?? '')]);
      const found = await check();
      expect(found).toMatchObject({ found: 19, extended: 9, contradicted: 4, unreadable: 6, foreign: 2 });
      const claimsOf = (state: string) => found.claims.filter((claim) => claim.state === state).map(({ sha }) => sha);
      expect(claimsOf('contradicted')).toEqual(forged.toReversed());
      expect(claimsOf('unreadable')).toEqual(unreadable.toReversed());
      const problems = found.claims.filter(({ state }) => state === 'contradicted').map(({ problem }) => problem);
      expect(problems[1]).toContain(`has a checkpoint of ${size + 1} entries, but the log has ${size}`);
      expect(problems[3]).toMatch(/another root of the first 16 entries; .*forged; entry \d+ records this commit$/);
    }),
  );

  promiseTest('git/verify', 'objects whose bytes were changed behind the back of git', () =>
    withServer(async (server) => {
      const project = new GitProject();
      const facts = factsOf(project, write(project, 'honest'));
      await record(server, project, [facts]);
      const path = project.path(`.git/objects/${facts.sha.slice(0, 2)}/${facts.sha.slice(2)}`);
      const forged = inflateSync(readFileSync(path)).toString('latin1').replace('honest', 'forged');
      rmSync(path);
      writeFileSync(path, deflateSync(Buffer.from(forged, 'latin1')));
      const { contradicted, present } = await server.database.read((reader) =>
        checkCommits(reader, { env, cwd: project.folder }),
      );
      // Some versions of git notice it themselves, and report the commit as missing.
      expect([present, contradicted <= 1]).toEqual([0, true]);
    }),
  );
});

type Facts = ReturnType<typeof factsOf>;
