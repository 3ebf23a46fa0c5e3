// `npm run audit`: builds, and asks the registry about known vulnerabilities. Those of a shipped package fail.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setUpBuild } from './setup.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

setUpBuild();
await (await import('./build/build.mjs')).buildAll();
const { components } = JSON.parse(readFileSync(`${root}dist/sbom.cdx.json`, 'utf8'));
// Everything that is shipped is bundled, so that npm knows it as a development dependency.
const { stdout } = spawnSync('npm', ['audit', '--json'], { cwd: root, encoding: 'utf8' });
const { vulnerabilities } = JSON.parse(stdout || '{}');
if (vulnerabilities === undefined) {
  console.error('the registry did not answer; nothing is known');
  process.exit(2);
}
const shipped = new Set(components.map(({ name }) => name));
const found = Object.values(vulnerabilities);
const isShipped = ({ name }) => shipped.has(name);
for (const finding of found)
  console.log(`${isShipped(finding) ? 'shipped' : 'development only'}: ${finding.name}, ${finding.severity}`);
console.log(`${shipped.size} shipped packages, ${found.filter(isShipped).length} with known vulnerabilities`);
process.exitCode = found.some(isShipped) ? 1 : 0;
