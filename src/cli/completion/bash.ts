import { type Completed, type CompletedCommand, quote } from './model.ts';

/** Every word that compgen expands is a name of ours or the id of a task. */
export function bashScript(commands: readonly CompletedCommand[]): string[] {
  const names = ['help', ...commands.map(({ name }) => name), '--help', '--version'].join(' ');
  return [
    '# bash completion for colibri; load it with: source <(colibri completion bash)',
    '_colibri() {',
    '  local cur="$2" prev="$3" command= kind=text words= word',
    `  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do`,
    '    if [[ $word != -* ]]; then command=$word; break; fi',
    '  done',
    '  case "$command $prev" in',
    ...commands.flatMap(({ name, options }) =>
      options.flatMap(({ flags, value }) =>
        value === undefined
          ? []
          : [`    ${flags.map((flag) => quote(`${name} ${flag}`)).join('|')}) ${bashValue(value)} ;;`],
      ),
    ),
    '    *)',
    '      case $command in',
    `        '') words=${quote(names)}; kind=words ;;`,
    `        help) words=${quote(commands.map(({ name }) => name).join(' '))}; kind=words ;;`,
    ...commands.map(({ name, options, argument }) => {
      const flags = options.flatMap((option) => option.flags).join(' ');
      const start = argument === undefined ? '' : ` else ${bashValue(argument.value)};`;
      return `        ${name}) if [[ $cur == -* ]]; then words=${quote(flags)}; kind=words;${start} fi ;;`;
    }),
    '      esac ;;',
    '  esac',
    '  case $kind in',
    '    task) words=$(colibri completion --task-ids 2>/dev/null | cut -f1) ;;',
    '    file) COMPREPLY=($(compgen -f -- "$cur")); return ;;',
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$cur"))',
    '}',
    'complete -F _colibri colibri',
  ];
}

function bashValue(value: Completed): string {
  return typeof value === 'string' ? `kind=${value}` : `words=${quote(value.join(' '))}; kind=words`;
}
