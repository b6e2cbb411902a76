import type { ProgramLike } from '../../site/generated/commands.ts';

/** One command of a shell block, and the program that it runs: `beckon-server`, `beckon`, or another. */
export type ShellCommand = {
  by: 'server' | 'product' | 'curl' | 'shell' | 'unknown';
  args: string[];
  line: string;
};

const SERVER = /(?:npm run (?:--silent )?beckon-server --|beckon-server) /;
const PRODUCT = /(?:^|[\s(|])(?:npm run (?:--silent )?beckon --|npx @beckon\/cli|beckon) /;
/** Commands that prepare others, and the function `beckon` of the README. */
const SHELL = /^(?:export |sleep |cd |\| |#|beckon\(\)|$)/;

export function commandsOf(block: string): ShellCommand[] {
  const joined = block.replaceAll(/\\\n\s*/g, ' ');
  return linesOf(joined).map((line) => {
    if (SHELL.test(line))
      return { by: exported(line) ? 'product' : 'shell', args: exported(line) ?? [], line };
    const server = SERVER.exec(line);
    if (server) return commandOf('server', line, server);
    if (line.startsWith('curl ')) return { by: 'curl', args: [], line };
    const product = PRODUCT.exec(line);
    if (product) return commandOf('product', line, product);
    return { by: line === 'npm ci && npm start' ? 'shell' : 'unknown', args: [], line };
  });
}

/** Returns the environment variables that a block sets, by name. */
export function variablesOf(block: string): Record<string, string> {
  const lines = linesOf(block.replaceAll(/\\\n\s*/g, ' '));
  const pairs = lines.flatMap(wordsOf).flatMap((word) => {
    const [, name = '', value = ''] = /^([A-Z][A-Z\d_]*)=(.*)$/s.exec(word) ?? [];
    return name === '' ? [] : [[name, value]];
  });
  return Object.fromEntries(pairs) as Record<string, string>;
}

/** Returns the lines of a text. A line continues while a single quote is open. */
function linesOf(text: string): string[] {
  const lines: string[] = [];
  let open = '';
  for (const line of text.split('\n')) {
    open = open === '' ? line : `${open}\n${line}`;
    if ((open.match(/'/g) ?? []).length % 2 === 1) continue;
    lines.push(open.trim());
    open = '';
  }
  return lines.filter((line) => line !== '');
}

/** Returns the arguments of `beckon` in `export NAME=$(beckon …)`. */
function exported(line: string): string[] | null {
  const found = line.startsWith('export ') ? PRODUCT.exec(line) : null;
  return found && wordsOf(line.slice(found.index + found[0].length));
}

function commandOf(by: 'server' | 'product', line: string, found: RegExpExecArray): ShellCommand {
  return { by, args: wordsOf(line.slice(found.index + found[0].length)), line };
}

/** Splits words as a shell does, up to a comment, a pipe or the end of the command. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const [, word = ''] of text.matchAll(/\s*((?:"[^"]*"|'[^']*'|[^\s"'|;&)>])+)/gy)) {
    if (word.startsWith('#')) break;
    words.push(word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'));
  }
  return words;
}

/** Returns the error of the program for these arguments, or null. No command runs, because the program has no installation. */
export async function misunderstood(program: ProgramLike, args: string[]): Promise<string | null> {
  try {
    await program.parseAsync(args, { from: 'user' });
    return null;
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return code?.startsWith('commander.') && !/commander\.(?:help|version)/.test(code) ? message : null;
  }
}
