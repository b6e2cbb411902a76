import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine, type ProgramLike, serverProgram } from '../../site/generated/commands.ts';
import { fencesOf } from '../../site/markdown.ts';
import { commandsOf, wordsOf } from './commands.ts';
import { ROOT } from './texts.ts';

/** A command that a text names, with the options behind it, and the options that it accepts. */
export type Mention = {
  line: number;
  text: string;
  /** Null for a command that does not exist. */
  path: string | null;
  options: string[];
  accepts: Set<string>;
};

const PROGRAMS = { 'beckon-server': serverProgram(), beckon: commandLine() };

/** Maps the words that can follow the name of a program to the program. Both have `doctor`; that of `beckon` counts. */
export const FIRST_WORDS: ReadonlyMap<string, ProgramLike> = new Map(
  Object.values(PROGRAMS).flatMap((program) =>
    program.commands.map((command): [string, ProgramLike] => [command.name(), program]),
  ),
);

const SPAN = /`([^`]+)`/g;
const PROGRAM = /^(?:npm run (?:--silent )?)?(beckon(?:-server)?) (?:-- )?/;
/** The text of a node. Edges and notes of a diagram are prose. */
const DIAGRAM_LABEL = /[[({]"?([a-z-]+ [^\])}"\n]*)/g;
/** Code that only looks like a command: a row of the benchmark. */
const NO_COMMANDS = new Set(['audiences build']);

/** Returns the commands that a Markdown text names in code spans, shell blocks and diagrams. */
export function mentionsOf(text: string): Mention[] {
  const spans = linesOf(withoutFences(text)).flatMap(([line, content]) =>
    [...content.matchAll(SPAN)].map(([, words = '']) => mentionOf(line, words)),
  );
  const blocks = fencesOf(text).flatMap(({ language, line, text: content }) => {
    if (language === 'mermaid')
      return [...content.matchAll(DIAGRAM_LABEL)].map(([, words = '']) => mentionOf(line, words));
    if (!['sh', 'bash'].includes(language)) return [];
    const commands = commandsOf(content).filter((command) => !/^docker (?!exec )/.test(command.line));
    return commands.map(({ by, args, line: typed }) => {
      if (by === 'server') return mention(line, 'beckon-server', args);
      return by === 'product' ? mention(line, 'beckon', args) : scriptMention(line, typed);
    });
  });
  return [...spans, ...blocks].filter((mention) => mention !== null);
}

/** Parses `beckon rules list`, `rules list` or `reset-access`. A noun alone is prose. */
function mentionOf(line: number, text: string): Mention | null {
  if (NO_COMMANDS.has(text)) return null;
  // A shell would read `<file>` as a redirection.
  const words = text.replaceAll(/<([^<>]*)>/g, '{$1}');
  const [behind, name] = PROGRAM.exec(words) ?? [];
  if (name !== undefined) return mention(line, name, wordsOf(words.slice(behind?.length)));
  const [first = '', ...others] = wordsOf(words);
  const program = FIRST_WORDS.get(first);
  const command = program?.commands.find((candidate) => candidate.name() === first);
  if (!program || !command) return scriptMention(line, words);
  const isProse = isNoun(command) && !isWord(others[0]);
  return isProse ? null : mention(line, program.name(), [first, ...others]);
}

function mention(line: number, name: string, args: string[]): Mention | null {
  // In a table cell, alternatives are separated by `\|`.
  const words = args.map((word) => word.replace(/\\.*/, ''));
  if (/^[{…]/.test(words[0] ?? '{')) return null;
  const program = PROGRAMS[name as keyof typeof PROGRAMS];
  const path = [name];
  let command = program;
  for (const word of words) {
    const next = command.commands.find((candidate) => candidate.name() === word);
    if (!next) break;
    command = next;
    path.push(word);
  }
  return {
    line,
    text: [name, ...args].join(' '),
    // A noun is not a command by itself, so a following word that is not a verb is a mistake.
    path: isNoun(command) && isWord(words[path.length - 1]) ? null : path.join(' '),
    options: optionsIn(words),
    accepts: optionsOf(program, command),
  };
}

/** Recognizes the program itself and commands that only have subcommands. `beckon-server backup` also does something. */
function isNoun(command: ProgramLike): boolean {
  const doesSomething =
    Object.values(PROGRAMS).every((program) => program !== command) && command.options.length > 0;
  return command.commands.length > 0 && !doesSomething;
}

function isWord(word: string | undefined): boolean {
  return word !== undefined && /^[a-z]/.test(word);
}

function optionsIn(words: readonly string[]): string[] {
  const end = words.indexOf('--');
  const ownOptions = end < 0 ? words : words.slice(0, end);
  return ownOptions.flatMap((word) => /^--?[a-z][\w-]*/i.exec(word)?.[0] ?? []);
}

/** Returns the options of the command itself, and those that every command of the program accepts. */
function optionsOf(program: ProgramLike, command: ProgramLike): Set<string> {
  const flags = [...program.options, ...command.options].map((option) => option.flags);
  return new Set(['-h', '--help', ...flags.flatMap((all) => all.match(/--?[a-zA-Z][\w-]*/g) ?? [])]);
}

const { scripts: SCRIPTS } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

/** Parses `npm run bench -- --quick`: a script of package.json, with the options that its sources read. */
function scriptMention(line: number, words: string): Mention | null {
  const [, name = '', args = ''] = /^npm run (?:--silent )?([\w:-]+)(?: -- (.*))?/.exec(words) ?? [];
  if (name === '') return null;
  const path = SCRIPTS[name] === undefined ? null : `npm run ${name}`;
  const folder = /^node ([\w/]+)\/\w+\.ts$/.exec(SCRIPTS[name] ?? '')?.[1];
  const options = folder === undefined ? [] : optionsIn(wordsOf(args));
  return { line, text: words, path, options, accepts: new Set(optionsRead(folder)) };
}

const READ = new Map<string, string[]>();

function optionsRead(folder: string | undefined): string[] {
  if (folder === undefined) return [];
  const cached = READ.get(folder);
  if (cached) return cached;
  const options = globSync(`${folder}/**/*.ts`, { cwd: ROOT })
    .map((file) => readFileSync(join(ROOT, file), 'utf8'))
    .flatMap((source) => [
      ...[...source.matchAll(/'?([\w-]+)'?: \{ type: '(?:string|boolean)'/g)].map(([, name]) => `--${name}`),
      ...(source.match(/(?<=')--[a-z-]+(?=')/g) ?? []),
    ]);
  READ.set(folder, options);
  return options;
}

/** Returns the text with empty lines in place of its fenced blocks, so that line numbers stay. */
export function withoutFences(text: string): string {
  return text.replaceAll(/^ {0,3}(`{3,})[^]*?^ {0,3}\1$/gm, (block) => block.replaceAll(/[^\n]/g, ''));
}

/** Returns the lines of a text, counted from 1. */
export function linesOf(text: string): [number, string][] {
  return text.split('\n').map((content, index) => [index + 1, content]);
}
