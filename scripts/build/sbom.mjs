// The software bill of materials of the package, as CycloneDX 1.6: what the bundles really contain, not what was
// installed.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** `metafiles` are those of esbuild, `root` is the folder of the repository. The same inputs give the same bytes. */
export function createSbom(metafiles, root) {
  const read = (path) => readFileSync(`${root}${path}`, 'utf8');
  const { packages } = JSON.parse(read('package-lock.json'));
  const own = JSON.parse(read('package.json'));
  const bundled = [...new Set(metafiles.flatMap(listPackages))].toSorted((one, other) => (one < other ? -1 : 1));
  const components = bundled.map((place) => toComponent(place, packages[place]));
  const [, sqlite] = /const VERSION = '([^']+)'/.exec(read('scripts/sqlite-module.cjs')) ?? [];
  // Not bundled: the install script fetches it on versions of Node without SQLite.
  components.push({ ...describe('better-sqlite3', sqlite, 'MIT'), scope: 'optional' });
  const purl = purlOf(own.name, own.version);
  const licenses = [{ license: { id: own.license } }];
  const subject = { type: 'application', name: own.name, version: own.version, 'bom-ref': purl, purl, licenses };
  const bom = {
    metadata: { component: subject, lifecycles: [{ phase: 'build' }] },
    components,
    dependencies: [{ ref: purl, dependsOn: components.map((component) => component['bom-ref']) }],
  };
  const id = createHash('sha256').update(JSON.stringify(bom)).digest('hex');
  const uuid = `${id.slice(0, 8)}-${id.slice(8, 12)}-5${id.slice(13, 16)}-8${id.slice(17, 20)}-${id.slice(20, 32)}`;
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuid}`,
    version: 1,
    ...bom,
  };
}

/** The packages that a bundle has at least one byte from, as package-lock.json names them. */
function listPackages({ outputs }) {
  const used = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
  // Before the first folder of packages: a way to a folder that is linked from elsewhere.
  return used.flatMap((path) => /node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
}

function toComponent(place, locked) {
  if (locked === undefined) throw new Error(`${place} is bundled and not in package-lock.json`);
  const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const [algorithm, digest] = locked.integrity.split('-');
  const alg = algorithm.replace('sha', 'SHA-');
  const hashes = [{ alg, content: Buffer.from(digest, 'base64').toString('hex') }];
  return { ...describe(name, locked.version, locked.license), hashes };
}

function describe(name, version, license) {
  const purl = purlOf(name, version);
  return { type: 'library', name, version, 'bom-ref': purl, purl, licenses: [{ license: { id: license } }] };
}

function purlOf(name, version) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}
