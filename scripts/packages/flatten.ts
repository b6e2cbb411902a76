/**
 * Joins the declarations of many modules into one. The compiler puts each of them, and the comment before it, at the start of a line. No
 * two of ours have the same name.
 */

export type Declarations = Map<string, string>;

const START = /^(?:export )?(?:declare )?(?:const|type|function|class|interface) (\w+)/;
const FROM = /^(?:import|export)\b[^;]*?\bfrom ['"][^'"]+['"];\n?/gm;

export function readDeclarations(modules: readonly string[]): Declarations {
  const declared: Declarations = new Map();
  for (const module of modules)
    for (const statement of statementsOf(module.replaceAll(FROM, '').replaceAll(/^export \{\};\n?/gm, ''))) {
      const name = START.exec(withoutComments(statement))?.[1];
      if (name === undefined) continue;
      if (declared.has(name)) throw new Error(`${name} is declared twice`);
      declared.set(name, statement);
    }
  return declared;
}

/** A comment may also be inside a declaration: it begins a new one only if a declaration follows. */
function statementsOf(text: string): string[] {
  const pieces = text.split(/^(?=\/\*\*|export |declare |type |interface )/m);
  const statements: string[] = [];
  let comment = '';
  for (const piece of pieces) {
    const code = withoutComments(piece).trimStart();
    if (piece.startsWith('/**') && code === '') comment += piece;
    else if (START.test(code)) statements.push(comment + piece);
    else statements.push(`${statements.pop() ?? ''}${comment}${piece}`);
    if (code !== '') comment = '';
  }
  return statements;
}

export function withoutComments(text: string): string {
  return text.replaceAll(/\/\*\*[\s\S]*?\*\/\s*/g, '');
}

type Entry = {
  text: string;
  /** The text of each module. */
  modules: Map<string, string>;
};

/** Returns the exports of an entry: its own declarations, `export { … } from`, and everything that `export * from` reaches. */
export function publicNames({ text, modules }: Entry): Set<string> {
  const names = new Set<string>();
  for (const [, name = ''] of text.matchAll(
    /^export (?:declare )?(?:const|type|function|class|interface) (\w+)/gm,
  ))
    names.add(name);
  for (const [, list = ''] of text.matchAll(/^export (?:type )?\{([^}]*)\} from/gm))
    for (const name of list.split(',')) names.add(name.trim().replace(/^type /, ''));
  for (const [, module = ''] of text.matchAll(/^export \* from '([^']+)'/gm))
    for (const name of publicNames({ text: modules.get(module) ?? '', modules })) names.add(name);
  names.delete('');
  return names;
}

type Flat = {
  declared: Declarations;
  open: Set<string>;
  otherEntryNames: Set<string>;
  imports: Map<string, string>;
};

/**
 * Returns one module with everything that `open` needs. Declarations that another entry has are imported from there, and only `open` is
 * exported.
 */
export function flatten({ declared, open, otherEntryNames, imports }: Flat): string {
  const used = new Set<string>();
  const imported = new Set<string>();
  const outside = new Set<string>();
  const waiting = [...open];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (used.has(name) || imported.has(name)) continue;
    const statement = declared.get(name);
    if (otherEntryNames.has(name)) imported.add(name);
    else if (statement === undefined) throw new Error(`${name} is declared nowhere`);
    else {
      used.add(name);
      for (const [word] of withoutComments(statement).matchAll(/\b\w+\b/g)) {
        if (declared.has(word)) waiting.push(word);
        const line = imports.get(word);
        if (line !== undefined) outside.add(line);
      }
    }
  }
  const kept = [...declared].filter(([name]) => used.has(name));
  return [
    ...[...outside].toSorted(),
    ...(imported.size === 0
      ? []
      : [`import type { ${[...imported].toSorted().join(', ')} } from './index.js';`]),
    ...kept.map(([name, statement]) => render(statement.trimEnd(), open.has(name))),
    // Without it all declarations would be exported.
    'export {};\n',
  ].join('\n');
}

function render(statement: string, isOpen: boolean): string {
  return statement.replace(
    /^(?:export )?(?:declare )?(?=(const|function|class|type|interface) \w)/m,
    (_, kind: string) =>
      `${isOpen ? 'export ' : ''}${kind === 'type' || kind === 'interface' ? '' : 'declare '}`,
  );
}
