import type { Command } from 'commander';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** Scripts that ask the program itself for the words that can follow, so they need no update. */
export const SCRIPTS: Record<(typeof SHELLS)[number], string> = {
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

export type Candidate = { word: string; description: string };

/** The commands and options that can follow these words. */
export function candidatesAfter(program: Command, words: readonly string[]): Candidate[] {
  let command = program;
  for (const word of words) command = command.commands.find((one) => one.name() === word) ?? command;
  const options = command === program ? program.options : [...command.options, ...program.options];
  return [
    ...command.commands.map((one) => ({ word: one.name(), description: one.description() })),
    ...options.map(({ long, description }) => ({ word: long ?? '', description })),
    { word: '--help', description: 'Show help' },
  ].filter(({ word }) => word !== '');
}
