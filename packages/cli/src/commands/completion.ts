import type { Command as Parser } from 'commander';
import { type Command, custom } from '../framework/declare.ts';
import { oneOf } from '../framework/options.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** Scripts that call the program for the words that can follow, so they need no update. */
const SCRIPTS: Record<(typeof SHELLS)[number], string> = {
  bash: `# Completion of beckon for bash: source <(beckon completion bash)
_beckon() {
  local IFS=$'\\n'
  local words=$(beckon completion bash -- "\${COMP_WORDS[@]:0:COMP_CWORD}" 2>/dev/null | cut -f1)
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _beckon beckon
`,
  zsh: `#compdef beckon
# Completion of beckon for zsh: source <(beckon completion zsh), or save it as _beckon in a folder of your fpath
compdef _beckon beckon
_beckon() {
  local -a entries
  entries=("\${(@f)$(beckon completion zsh -- "\${(@)words[1,CURRENT-1]}" 2>/dev/null | sed 's/:/\\\\:/g; s/\\t/:/')}")
  _describe -o 'beckon' entries
  _files
}
# Loaded by name, this file is the function; sourced, it only defines it.
if [ "$funcstack[1]" = _beckon ]; then _beckon; fi
`,
  fish: `# Completion of beckon for fish: beckon completion fish > ~/.config/fish/completions/beckon.fish
complete -c beckon -f -a '(beckon completion fish -- (commandline -opc))'
`,
};

/** Takes the program, because it completes every command of it. */
export function completion(program: Parser): Command {
  return custom('completion <shell> [words...]', {
    help: 'Print a script that completes commands and options in your shell',
    args: {
      shell: `One of ${SHELLS.join(', ')}`,
      words: 'Print what can follow these words; the script calls this',
    },
    async run({ output }, { shell: named, words }) {
      const shell = oneOf(named, SHELLS, 'shell');
      const found = words.length === 0 ? null : candidatesAfter(program, words);
      if (output.isJson) return output.value(found ?? SCRIPTS[shell], () => '');
      await output.raw(
        found?.map(({ word, description }) => `${word}\t${description}\n`).join('') ?? SCRIPTS[shell],
      );
    },
  });
}

type Candidate = { word: string; description: string };

/** The commands and options that can follow these words. */
function candidatesAfter(program: Parser, words: readonly string[]): Candidate[] {
  let command = program;
  for (const word of words)
    command = command.commands.find((subcommand) => subcommand.name() === word) ?? command;
  const options = command === program ? program.options : [...command.options, ...program.options];
  return [
    ...command.commands.map((subcommand) => ({
      word: subcommand.name(),
      description: subcommand.description(),
    })),
    ...options.map(({ long, description }) => ({ word: long ?? '', description })),
    { word: '--help', description: 'Show help' },
  ].filter(({ word }) => word !== '');
}
