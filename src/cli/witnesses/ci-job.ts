/** What CI runs with nothing but the repository: each committed checkpoint must extend that of an earlier commit. */

export const CI_KINDS = ['github', 'shell'] as const;
export type CiKind = (typeof CI_KINDS)[number];

interface Facts {
  readonly version: string;
  /** The public key of the log. More keys, of other logs and of later rotations, may follow it after a space. */
  readonly key: string;
}

export function ciJob(kind: CiKind, facts: Facts): string[] {
  return kind === 'shell' ? shellScript(facts) : githubWorkflow(facts);
}

/**
 * A base that is unknown fails: after a forced push it is the history that was replaced. So does an empty one, which
 * would compare nothing, and a removed file. Names have spaces and letters of any script; git quotes those that it
 * cannot write. The backspace behind the line feed keeps the shell from removing it.
 */
const CHECK = (program: string) => [
  '[ -n "$BASE" ] || { echo "BASE is empty: name the commit to compare with" >&2; exit 3; }',
  "set -f -- $(printf -- '--key %s ' $COLIBRI_KEYS)",
  'case "$BASE" in *[!0]*)',
  '  git cat-file -e "$BASE^{commit}" 2>/dev/null || git fetch -q origin "$BASE"',
  '  files=$(git -c core.quotePath=off ls-tree -r --name-only "$BASE" .colibri/)',
  "  IFS=$(printf '\\n\\b')",
  '  for file in $files; do',
  '    unset IFS',
  '    case "$file" in',
  '    \\"*) echo "$file is not a name of a checkpoint" >&2; exit 3 ;;',
  `    *checkpoint) git show "$BASE:$file" | ${program} checkpoint --check - --against "$file" "$@" ;;`,
  '    esac',
  '  done ;;',
  'esac',
  'files=$(git -c core.quotePath=off ls-files .colibri/)',
  "IFS=$(printf '\\n\\b')",
  'for file in $files; do',
  '  unset IFS',
  '  case "$file" in',
  `  *checkpoint) ${program} checkpoint --check "$file" --against "$file" "$@" ;;`,
  '  esac',
  'done',
];

function shellScript({ version, key }: Facts): string[] {
  return [
    '#!/bin/sh',
    '# Usage: sh check-checkpoints.sh BASE, in a clone with the whole history. BASE is an earlier commit.',
    'set -eu',
    'BASE=$1',
    `COLIBRI_KEYS='${key}'`,
    ...CHECK(`\${COLIBRI:-npx --yes colibri-mcp@${version}}`),
  ];
}

/** As GitHub evaluates it. */
function expression(text: string): string {
  return `\${{ ${text} }}`;
}

function githubWorkflow({ version, key }: Facts): string[] {
  return [
    'name: colibri',
    'on:',
    '  push:',
    '  pull_request:',
    'permissions:',
    '  contents: read',
    'jobs:',
    '  checkpoints:',
    '    runs-on: ubuntu-latest',
    '    steps:',
    '      - uses: actions/checkout@v4',
    '        with:',
    '          fetch-depth: 0',
    '      - uses: actions/setup-node@v4',
    '        with:',
    '          node-version: 22',
    '      - name: every committed checkpoint extends the one before',
    '        env:',
    `          BASE: ${expression('github.event.pull_request.base.sha || github.event.before')}`,
    `          COLIBRI_KEYS: ${key}`,
    '        run: |',
    '          set -eu',
    ...CHECK(`npx --yes colibri-mcp@${version}`).map((line) => `          ${line}`),
  ];
}
