// The result for a terminal, and as the table in docs/clients.md.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PAGE = fileURLToPath(new URL('../../docs/clients.md', import.meta.url));
const [BEGIN, END] = ['<!-- begin: npm run clients -->', '<!-- end: npm run clients -->'];

export function printResult({ driver, checks, problems, refusedHosts, folder }) {
  console.error(`${problems.length === 0 ? '✓' : '✗'} ${driver.name} ${driver.version}`);
  for (const problem of problems) console.error(`   ${problem}`);
  for (const { name } of checks)
    if (driver.limits?.[name] !== undefined) console.error(`   ${name}: ${driver.limits[name]}`);
  if (refusedHosts.length > 0) console.error(`   refused to connect it to ${refusedHosts.join(', ')}`);
  if (folder !== undefined) console.error(`   kept ${folder}`);
}

/** Replaces the part between two marks; the rest of the page is written by hand. */
export function writeTable(results, today = new Date()) {
  const page = readFileSync(PAGE, 'utf8');
  const [start, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (start === -1 || end < start) throw new Error(`${PAGE} has no ${BEGIN} … ${END}`);
  writeFileSync(
    PAGE,
    `${page.slice(0, start + BEGIN.length)}\n\n${table(results, today, describeColibri())}\n\n${page.slice(end)}`,
  );
}

/** The version and commit that the clients were run with; `-dirty` if files differ from that commit. */
export function describeColibri() {
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  try {
    const options = { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
    const commit = execFileSync('git', ['describe', '--always', '--dirty', '--exclude', '*', '--abbrev=12'], options);
    return `${version} (commit ${commit.trim()})`;
  } catch {
    return version;
  }
}

const CHECKS = ['actions', 'session', 'coverage', 'commit', 'evidence', 'verify', 'verify --git'];

/** A cell is "yes" only if the check was made and found nothing. */
export function table(results, today, colibri) {
  const rows = results.map(({ driver, checks }) => [
    driver.name,
    `\`${driver.package}\``,
    driver.version,
    ...CHECKS.map((name) =>
      cellOf(
        checks.find((check) => check.name === name),
        driver.limits?.[name],
      ),
    ),
  ]);
  const header = ['client', 'package', 'version', ...CHECKS];
  const widths = header.map((_, column) => Math.max(...[header, ...rows].map((cells) => cells[column].length)));
  const rule = widths.map((width) => '-'.repeat(width));
  const lines = [header, rule, ...rows].map(
    (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`,
  );
  const failures = results.flatMap(({ driver, problems }) =>
    problems.map((problem) => `- ${driver.name}: ${toOneLine(problem)}`),
  );
  const date = today.toISOString().slice(0, 10);
  return [
    `Last run: ${date}, Colibri ${colibri}, Node ${process.versions.node}, ${process.platform}-${process.arch}.`,
    lines.join('\n'),
    ...(failures.length === 0 ? [] : [failures.join('\n')]),
  ].join('\n\n');
}

function cellOf(check, limit) {
  if (check === undefined) return 'not checked';
  return check.problems.length > 0 ? 'no' : (limit ?? 'yes');
}

/** Without paths, which say something about this machine. */
function toOneLine(text) {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/(?:\/[\w.@-]+){2,}/g, '…')
    .slice(0, 200);
}
