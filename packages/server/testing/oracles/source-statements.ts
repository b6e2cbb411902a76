import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A statement, or a part of one, from a source file. `…` marks an inserted value. */
export type Statement = { file: string; line: number; text: string };

const SRC = join(import.meta.dirname, '../../src');

/** Returns every piece of SQL that names one of our tables, from all sources except tests and migrations. */
export function statementsOfSources(): Statement[] {
  return globSync('**/*.ts', { cwd: SRC })
    .filter((file) => !file.endsWith('.test.ts') && !file.includes('migrations/'))
    .toSorted()
    .flatMap((file) =>
      literalsOf(readFileSync(join(SRC, file), 'utf8'))
        .filter(({ text }) => /\bbeckon\.\w/.test(text))
        .map((literal) => ({ file, ...literal })),
    );
}

type Literal = { line: number; text: string };

/** Returns the string literals of a source, outermost first. Comments and regular expressions are skipped. */
export function literalsOf(source: string): Literal[] {
  const found: Literal[] = [];
  let at = 0;
  while (at < source.length) {
    const rest = source.slice(at, at + 2);
    if (rest === '//') at = indexAfter(source, '\n', at);
    else if (rest === '/*') at = indexAfter(source, '*/', at);
    else if (rest.startsWith('/') && isRegExp(source, at)) at = endOfRegExp(source, at);
    else if (/^['"`]/.test(rest)) at = readLiteral(source, at, found);
    else at += 1;
  }
  return found;
}

function readLiteral(source: string, start: number, found: Literal[]): number {
  const quote = source.charAt(start);
  let text = '';
  let at = start + 1;
  for (; at < source.length && source.charAt(at) !== quote; at += 1) {
    if (source.charAt(at) === '\\') {
      text += source.charAt((at += 1));
    } else if (quote === '`' && source.startsWith('${', at)) {
      const end = endOfInsert(source, at + 2);
      const inside = literalsOf(source.slice(at + 2, end));
      found.push(
        ...inside.map(({ line, text: literal }) => ({ line: line + lineOf(source, at) - 1, text: literal })),
      );
      text += '…';
      at = end;
    } else text += source.charAt(at);
  }
  found.push({ line: lineOf(source, start), text });
  return at + 1;
}

function lineOf(source: string, at: number): number {
  return source.slice(0, at).split('\n').length;
}

/** Returns the position of the brace that closes an insertion. */
function endOfInsert(source: string, start: number): number {
  let depth = 1;
  for (let at = start; at < source.length; at += 1) {
    const char = source.charAt(at);
    if (/['"`]/.test(char)) at = readLiteral(source, at, []) - 1;
    else if (char === '{') depth += 1;
    else if (char === '}' && (depth -= 1) === 0) return at;
  }
  return source.length;
}

function indexAfter(source: string, end: string, from: number): number {
  const at = source.indexOf(end, from);
  return at < 0 ? source.length : at + end.length;
}

/** A slash begins a regular expression if a value may come here. Otherwise it divides. */
function isRegExp(source: string, at: number): boolean {
  return /(?:[(,=:[!&|?{};>]|\breturn|^)\s*$/.test(source.slice(Math.max(0, at - 40), at));
}

function endOfRegExp(source: string, start: number): number {
  let inClass = false;
  for (let at = start + 1; at < source.length; at += 1) {
    const char = source.charAt(at);
    if (char === '\\') at += 1;
    else if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    else if (char === '\n' || (char === '/' && !inClass)) return at + 1;
  }
  return source.length;
}
