// The result for a terminal, and as the table in docs/clients.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PAGE = fileURLToPath(new URL('../../docs/clients.md', import.meta.url));
const [BEGIN, END] = ['<!-- begin: npm run clients -->', '<!-- end: npm run clients -->'];

export function printResult({ driver, problems, refusedHosts, folder }) {
  console.error(`${problems.length === 0 ? '✓' : '✗'} ${driver.name} ${driver.version}`);
  for (const problem of problems) console.error(`   ${problem}`);
  if (refusedHosts.length > 0) console.error(`   refused to connect it to ${refusedHosts.join(', ')}`);
  if (folder !== undefined) console.error(`   kept ${folder}`);
}

/** Replaces the part between two marks; the rest of the page is written by hand. */
export function writeTable(results, today = new Date()) {
  const page = readFileSync(PAGE, 'utf8');
  const [start, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (start === -1 || end < start) throw new Error(`${PAGE} has no ${BEGIN} … ${END}`);
  writeFileSync(PAGE, `${page.slice(0, start + BEGIN.length)}\n\n${table(results, today)}\n\n${page.slice(end)}`);
}

const CHECKS = ['actions', 'session', 'coverage', 'commit', 'evidence', 'verify', 'verify --git'];

export function table(results, today) {
  const header = ['client', 'package', 'version', ...CHECKS];
  const rows = results.map(({ driver, checks, problems }) => {
    const { name, version } = driver;
    const cells = CHECKS.map((check) => cellOf(checks.find((candidate) => candidate.name === check)));
    const isDriven = checks.length > 0;
    return [name, `\`${driver.package}\``, version, ...(isDriven ? cells : CHECKS.map(() => 'not driven')), problems];
  });
  const lines = [header, header.map(() => '---'), ...rows.map((row) => row.slice(0, -1))];
  const failures = results.flatMap(({ driver, problems }) =>
    problems.map((problem) => `- ${driver.name}: ${oneLine(problem)}`),
  );
  const date = today.toISOString().slice(0, 10);
  return [
    `Last run: ${date}, Node ${process.versions.node}, ${process.platform}-${process.arch}.`,
    lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n'),
    ...(failures.length === 0 ? [] : [failures.join('\n')]),
  ].join('\n\n');
}

function cellOf(check) {
  return check === undefined ? 'not checked' : check.problems.length === 0 ? 'yes' : 'no';
}

function oneLine(text) {
  return text.replaceAll(/\s+/g, ' ').slice(0, 200);
}
