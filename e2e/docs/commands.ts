import type { ProgramLike } from '../../site/generated/commands.ts';

/** One command of a block for a shell, and whose it is. */
export type Told = {
  by: 'operator' | 'customer' | 'curl' | 'shell' | 'neither';
  args: string[];
  line: string;
};

const OPERATOR = /(?:npm run (?:--silent )?beckon --|beckon-server) /;
const CUSTOMER = /(?:^|[\s(|])(?:npm run (?:--silent )?cli --|npx @beckon\/cli|beckon) /;
/** What prepares the commands, and needs no look. */
const SHELL = /^(?:export |sleep |cd |\| |#|$)/;

export function commandsOf(block: string): Told[] {
  const joined = block.replaceAll(/\\\n\s*/g, ' ');
  return linesOf(joined).map((line) => {
    const operator = OPERATOR.exec(line);
    if (operator) return told('operator', line, operator);
    if (line.startsWith('curl ')) return { by: 'curl', args: [], line };
    const customer = CUSTOMER.exec(line);
    if (customer) return told('customer', line, customer);
    return { by: SHELL.test(line) || line === 'npm ci && npm start' ? 'shell' : 'neither', args: [], line };
  });
}

/** What a block sets of the environment, before a command or for all that follow, by name. */
export function variablesOf(block: string): Record<string, string> {
  const lines = linesOf(block.replaceAll(/\\\n\s*/g, ' '));
  const pairs = lines.flatMap(wordsOf).flatMap((word) => {
    const [, name = '', value = ''] = /^([A-Z][A-Z\d_]*)=(.*)$/s.exec(word) ?? [];
    return name === '' ? [] : [[name, value]];
  });
  return Object.fromEntries(pairs) as Record<string, string>;
}

/** Lines, where what stands in quotes may go over several. */
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

function told(by: 'operator' | 'customer', line: string, found: RegExpExecArray): Told {
  return { by, args: wordsOf(line.slice(found.index + found[0].length)), line };
}

/** As a shell would take them apart, up to a comment, a pipe or the end of the command. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const [, word = ''] of text.matchAll(/\s*((?:"[^"]*"|'[^']*'|[^\s"'|;&)>])+)/gy)) {
    if (word.startsWith('#')) break;
    words.push(word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'));
  }
  return words;
}

/** What the program says of arguments that it does not understand; null where it does. Nothing is done: there is nobody behind it. */
export async function misunderstood(program: ProgramLike, args: string[]): Promise<string | null> {
  try {
    await program.parseAsync(args, { from: 'user' });
    return null;
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return code?.startsWith('commander.') && !/commander\.(?:help|version)/.test(code) ? message : null;
  }
}
