import { type Completed, type CompletedCommand, quote } from './model.ts';

export function fishScript(commands: readonly CompletedCommand[]): string[] {
  return [
    '# fish completion for colibri; load it with: colibri completion fish | source',
    // Fish's own function looks at every word, so that a title with the name of a command would count as one.
    'function __colibri_command',
    '  set -l words (commandline -opc)',
    '  test (count $words) -gt 1; and test $words[2] = $argv[1]',
    'end',
    'complete -c colibri -f',
    "complete -c colibri -n __fish_use_subcommand -s h -l help -d 'print the help'",
    "complete -c colibri -n __fish_use_subcommand -s v -l version -d 'print the version'",
    ...commands.flatMap(({ name, summary, options, argument }) => {
      const seen = quote(`__colibri_command ${name}`);
      return [
        `complete -c colibri -n __fish_use_subcommand -a ${name} -d ${fishQuote(summary)}`,
        ...options.map(({ flags, description, value }) => {
          const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
          const end = value === undefined ? '' : ` ${value === 'file' ? '-r' : '-x'}${fishValue(value)}`;
          return `complete -c colibri -n ${seen} ${names.join(' ')} -d ${fishQuote(description)}${end}`;
        }),
        ...(argument === undefined ? [] : [`complete -c colibri -n ${seen}${fishValue(argument.value)}`]),
      ];
    }),
    `complete -c colibri -n '__colibri_command help' -a ${fishQuote(commands.map(({ name }) => name).join(' '))}`,
  ];
}

function fishValue(value: Completed): string {
  if (value === 'task') return " -k -a '(colibri completion --task-ids 2>/dev/null)'";
  if (value === 'file') return ' -F';
  return value === 'text' ? '' : ` -a ${fishQuote(value.join(' '))}`;
}

/** Fish knows two escapes between single quotes. */
function fishQuote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
