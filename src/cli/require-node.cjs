'use strict';
// Written in ES5, because every version of Node must be able to parse it: an older one reads this file and no other.
var found = process.versions.node.split('.');
if (Number(found[0]) < 20 || (Number(found[0]) === 20 && Number(found[1]) < 19)) {
  console.error('Colibri needs Node 20.19 or later; this is', found.slice(0, 2).join('.'));
  // EX_CONFIG of sysexits.h. Not 1 or 2, which are verdicts of some commands. A hook never fails an agent.
  process.exit(process.argv[2] === 'hook' ? 0 : 78);
}
