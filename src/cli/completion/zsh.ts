import { type Completed, type CompletedCommand, type CompletedOption, quote } from './model.ts';

export function zshScript(commands: readonly CompletedCommand[]): string[] {
  return [
    '#compdef colibri',
    '# zsh completion for colibri; load it with: source <(colibri completion zsh)',
    '_colibri_tasks() {',
    '  local -a tasks',
    `  tasks=(\${(f)"$(colibri completion --task-ids 2>/dev/null)"})`,
    `  tasks=(\${tasks/$'\\t'/:})`,
    "  _describe 'task' tasks",
    '}',
    '_colibri() {',
    '  local -a commands',
    '  commands=(',
    ...commands.map(({ name, summary }) => `    ${quote(`${name}:${summary}`)}`),
    '  )',
    '  if (( CURRENT == 2 )); then',
    "    _describe 'command' commands",
    "    _arguments '(-h --help)'{-h,--help}'[print the help]' '(-v --version)'{-v,--version}'[print the version]'",
    '    return',
    '  fi',
    '  local command=$words[2]',
    '  shift words; (( CURRENT-- ))',
    '  case $command in',
    ...commands.map(({ name, options, argument }) => {
      const specs = [
        ...options.flatMap(optionSpecs),
        ...(argument === undefined
          ? []
          : [`${argument.isRepeated ? '*' : '1'}:${zshAction('argument', argument.value)}`]),
      ];
      return `    ${name}) _arguments -s ${specs.map(quote).join(' ')} ;;`;
    }),
    "    help) (( CURRENT == 2 )) && _describe 'command' commands ;;",
    '  esac',
    '}',
    'compdef _colibri colibri',
  ];
}

/** One for each flag. Brackets and colons end a part of a specification. */
function optionSpecs({ flags, description, value }: CompletedOption): string[] {
  const text = description.replaceAll(/[[\]:\\]/g, (character) => `\\${character}`);
  const end = value === undefined ? '' : `:${zshAction('value', value)}`;
  return flags.map((flag) => `*${flag}[${text}]${end}`);
}

function zshAction(name: string, value: Completed): string {
  if (value === 'task') return 'task:_colibri_tasks';
  if (value === 'file') return 'file:_files';
  return value === 'text' ? `${name}: ` : `${name}:(${value.join(' ')})`;
}
