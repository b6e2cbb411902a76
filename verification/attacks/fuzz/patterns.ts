import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';

/** A regular expression literal in our sources. */
export type Pattern = { source: string; flags: string; file: string; line: number };

type Node = { type?: string; regex?: { pattern: string; flags: string }; start?: number };

const ROOT = new URL('../../..', import.meta.url).pathname;
const FOLDERS = ['contract', 'server', 'client', 'cli', 'dashboard'].map((name) => `packages/${name}/src`);

/** Returns all patterns, each once, with the first place where it occurs. Tests are skipped, because input never reaches them. */
export function allPatterns(): Pattern[] {
  const byKey = new Map<string, Pattern>();
  for (const folder of FOLDERS)
    for (const name of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
      if (!/\.tsx?$/.test(name) || /\.test\.tsx?$/.test(name)) continue;
      const file = join(folder, name);
      for (const pattern of patternsOf(readFileSync(join(ROOT, file), 'utf8'), file)) {
        const key = `/${pattern.source}/${pattern.flags}`;
        if (!byKey.has(key)) byKey.set(key, pattern);
      }
    }
  return [...byKey.values()];
}

export function patternsOf(code: string, file: string): Pattern[] {
  const program = parseAst(code, { lang: file.endsWith('x') ? 'tsx' : 'ts' });
  const patterns: Pattern[] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, regex, start = 0 } = node as Node;
    if (type === 'Literal' && regex)
      patterns.push({
        source: regex.pattern,
        flags: regex.flags,
        file,
        line: code.slice(0, start).split('\n').length,
      });
    for (const value of Object.values(node)) if (typeof value === 'object') walk(value);
  };
  walk(program);
  return patterns;
}
