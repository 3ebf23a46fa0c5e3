// One client, one session, one verdict.
import { checkActions, checkCommit, checkCoverage, checkEvidence, checkSession } from './check.mjs';
import { installClient } from './install.mjs';
import { readObservations } from './ledger.mjs';
import { startModel } from './model.mjs';
import { sessionSteps, TASK } from './session.mjs';
import { createWorkspace, must, runLimited } from './workspace.mjs';

const TIMEOUT_MS = 180_000;
const PROMPT = 'Greet the world';

/** Never throws: a client that cannot be installed or driven is a result, and not a passed one. */
export async function playSession(driver, { keeps, initNames }) {
  const result = { driver, checks: [], problems: [], refusedHosts: [], folder: undefined };
  const fail = (problem) => ({ ...result, problems: [problem] });
  const installed = installClient(driver);
  if (installed === undefined) return fail(`npm cannot install ${driver.package}@${driver.version}`);
  let workspace;
  try {
    workspace = createWorkspace(driver.id);
    if (!keeps) process.once('exit', workspace.remove);
    const checks = await drive(driver, installed, { ...workspace, initNames }, result);
    const problems = checks.flatMap(({ name, problems: found }) => found.map((problem) => `${name}: ${problem}`));
    return { ...result, checks, problems, ...(keeps && { folder: workspace.folder }) };
  } catch (error) {
    return { ...fail(error.message), ...(keeps && { folder: workspace?.folder }) };
  } finally {
    if (workspace !== undefined && !keeps) {
      workspace.remove();
      process.off('exit', workspace.remove);
    }
  }
}

async function drive(driver, installed, workspace, result) {
  const { colibri, project, run, initNames } = workspace;
  must(colibri('add', PROMPT, '--status', 'todo'));
  // For every client, as in a shared project: Copilot CLI then reports to two hooks.
  must(colibri('init', ...initNames, '--record', '--no-instructions'));
  const findHead = () => run('git', 'rev-parse', 'HEAD').stdout.trim();
  const steps = sessionSteps(findHead);
  const model = await startModel(speller(driver, steps, workspace));
  try {
    await runClient(driver, installed, workspace, model, steps.length);
  } finally {
    model.close();
    result.refusedHosts = model.refusedHosts();
  }
  // Any command that opens the ledger takes in what still waits in the spool.
  const verdict = JSON.parse(colibri('verify', '--json').stdout);
  const evidence = readEvidence(
    colibri('call', 'task_get', JSON.stringify({ task_id: TASK, include_thought_trail: true })),
  );
  const observations = await readObservations(project);
  return [
    { name: 'actions', problems: checkActions(observations, steps, driver) },
    { name: 'session', problems: checkSession(observations, driver) },
    { name: 'coverage', problems: checkCoverage(observations, steps, driver) },
    { name: 'commit', problems: checkCommit(observations, findHead(), driver) },
    { name: 'evidence', problems: checkEvidence(evidence, findHead(), driver) },
    { name: 'verify', problems: verdict.verdict === 'whole' ? [] : verdict.problems.map(String) },
    { name: 'verify --git', problems: checkGit(colibri('verify', '--git'), driver) },
  ];
}

/** The call of a step is the same for every request that asks for it. */
function speller({ spell }, steps, workspace) {
  const calls = new Map();
  const toCall = ({ tool, input, command, path, before, after }) => {
    if (tool !== undefined) return spell.tool(tool, input());
    if (command !== undefined) return spell.command(command);
    return before === undefined ? spell.create(path, after, workspace) : spell.replace(path, before, after, workspace);
  };
  return (index) => {
    if (index >= steps.length) return undefined;
    if (!calls.has(index)) calls.set(index, toCall(steps[index]));
    return calls.get(index);
  };
}

async function runClient(driver, installed, workspace, model, stepCount) {
  const { project, env } = workspace;
  driver.prepare({ ...workspace, modelUrl: model.url });
  const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
  const outcome = await runLimited([...driver.program(installed), ...driver.args(PROMPT)], {
    cwd: project,
    env: {
      ...env,
      ...Object.fromEntries(proxies.map((name) => [name, model.url])),
      NO_PROXY: '127.0.0.1,localhost',
      no_proxy: '127.0.0.1,localhost',
      ...driver.env({ ...workspace, modelUrl: model.url }),
    },
    timeoutMs: TIMEOUT_MS,
  });
  const { status, isLate, stdout, stderr } = outcome;
  const played = `${model.steps()} of ${stepCount} steps were played`;
  const end = isLate ? `did not end within ${TIMEOUT_MS / 1000} seconds` : `ended with exit code ${status}`;
  if (isLate || status !== 0 || model.steps() !== stepCount)
    throw new Error(`the client ${end}, ${played}: ${`${stdout}\n${stderr}`.trim().slice(-2000)}`);
}

function readEvidence({ stdout }) {
  try {
    return JSON.parse(stdout).evidence;
  } catch {
    return undefined;
  }
}

/** A client that runs no hooks of git leaves no checkpoint to compare with. */
function checkGit({ status, stdout, stderr }, { limits = {} }) {
  const isEmpty = limits['verify --git'] !== undefined;
  const isExpected = isEmpty ? status === 2 && stdout.includes('Nothing was compared') : status === 0;
  return isExpected ? [] : [`${stdout}${stderr}`.trim().split('\n')[0]];
}
