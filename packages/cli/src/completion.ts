import type { Command } from 'commander';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type CompletedShell = (typeof SHELLS)[number];

/** A script that completes commands and options, made of the program itself, so that it knows all that the program knows. */
export function completionFor(shell: CompletedShell, program: Command): string {
  return SCRIPTS[shell](nodesOf(program, []));
}

/** A command by its words, with what may come next. */
type Node = { path: string; words: { word: string; about: string }[] };

function nodesOf(command: Command, path: readonly string[]): Node[] {
  const inherited = path.length === 0 ? [] : globalOptions(command);
  const commands = command.commands.map((one) => ({ word: one.name(), about: oneLine(one.description()) }));
  const options = [...command.options, ...inherited].map((one) => ({
    word: one.long ?? one.short ?? '',
    about: oneLine(one.description),
  }));
  const words = [...commands, ...options, { word: '--help', about: 'show help' }].filter(
    ({ word }) => word !== '',
  );
  return [
    { path: path.join(' '), words },
    ...command.commands.flatMap((one) => nodesOf(one, [...path, one.name()])),
  ];
}

function globalOptions(command: Command): Command['options'] {
  return command.parent === null ? command.options : globalOptions(command.parent);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

const SCRIPTS: Record<CompletedShell, (nodes: Node[]) => string> = { bash, zsh, fish };

function bash(nodes: Node[]): string {
  const cases = nodes.map(
    ({ path, words }) => `    ${quoted(path)}) words=${quoted(words.map(({ word }) => word).join(' '))} ;;`,
  );
  return `# Completion of beckon for bash: source <(beckon completion bash)
_beckon() {
  local path='' words='' word
  local -a seen=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
  for word in "\${seen[@]}"; do
    case "\${path:+$path }$word" in
${nodes
  .filter(({ path }) => path !== '')
  .map(({ path }) => `      ${quoted(path)}) path=${quoted(path)} ;;`)
  .join('\n')}
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _beckon beckon
`;
}

function zsh(nodes: Node[]): string {
  const cases = nodes.map(
    ({ path, words }) =>
      `    ${quoted(path)}) entries=(${words.map(({ word, about }) => quoted(`${word.replaceAll(':', '\\:')}:${about}`)).join(' ')}) ;;`,
  );
  return `#compdef beckon
# Completion of beckon for zsh: source <(beckon completion zsh), or into a file _beckon in your fpath
compdef _beckon beckon
_beckon() {
  local found='' word
  local -a entries
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${found:+$found }$word" in
${nodes
  .filter(({ path }) => path !== '')
  .map(({ path }) => `      ${quoted(path)}) found=${quoted(path)} ;;`)
  .join('\n')}
    esac
  done
  case "$found" in
${cases.join('\n')}
  esac
  _describe -o 'beckon' entries
  _files
}
# Loaded by name, this file is the function; sourced, it only defines it.
if [ "$funcstack[1]" = _beckon ]; then _beckon; fi
`;
}

function fish(nodes: Node[]): string {
  const lines = nodes.flatMap(({ path, words }) =>
    words.map(({ word, about }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${quoted(word)}`;
      return `complete -c beckon -n ${quoted(`__beckon_at ${quotedForFish(path)}`)} ${what} -d ${quoted(about)}`;
    }),
  );
  return `# Completion of beckon for fish: beckon completion fish > ~/.config/fish/completions/beckon.fish
function __beckon_at
  set -l found ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$found $word")
    contains -- $next ${nodes
      .filter(({ path }) => path !== '')
      .map(({ path }) => quoted(path))
      .join(' ')}; and set found $next
  end
  test "$found" = "$argv"
end
${lines.join('\n')}
`;
}

/** The same in all three: nothing in single quotes means anything, and a quote of its own stands outside. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function quotedForFish(path: string): string {
  return path === '' ? '""' : path;
}
