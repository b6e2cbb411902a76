import { parseSync } from 'rolldown/utils';
import { EXEMPT, type Sentence, sentencesOf } from './sentences.ts';

export type Kind = 'comment' | 'string' | 'title';
export type SourceSentence = Sentence & { kind: Kind };

type Node = { type: string; start: number } & Record<string, unknown>;
type Text = { at: number; text: string };
type Found = { strings: Text[]; titles: Text[] };

/** Directives to tools, which no reader needs. */
const DIRECTIVE = /^(?:oxlint|eslint|@ts-|@vite|prettier|#region|#endregion|v8 |c8 |biome|https?:|#__|@__)/;

/** The sentences of a TypeScript file: of its comments, and of its messages or, in a test, of its titles. */
export function sourceSentences(file: string, code: string): SourceSentence[] {
  const { comments, program } = parseSync(file, code, { lang: file.endsWith('x') ? 'tsx' : 'ts' });
  const found: Found = { strings: [], titles: [] };
  const isTest = /\.test\.tsx?$/.test(file);
  visit(program as unknown as Node, found, isTest);
  const lineAt = lineFinder(code);
  const read = (kind: Kind, texts: Text[]): SourceSentence[] =>
    texts.flatMap(({ at, text }) =>
      sentencesOf(continued(kind, text), lineAt(at)).map((sentence) => ({ ...sentence, kind })),
    );
  return [
    ...read('comment', commentTexts(comments, code)),
    ...(isTest ? read('title', found.titles) : read('string', found.strings.filter(isProse))),
  ];
}

/** A message that begins with a space continues another one, so its first word opens no sentence. */
function continued(kind: Kind, text: string): string {
  return kind === 'string' && /^ \p{Ll}/u.test(text) ? EXEMPT + text : text;
}

type Comment = { type: 'Line' | 'Block'; value: string; start: number; end: number };

/** Line comments of neighboring lines are one text. */
function commentTexts(comments: readonly Comment[], code: string): Text[] {
  const texts: (Text & { end: number; isLine: boolean })[] = [];
  for (const { type, value, start, end } of comments) {
    const isLine = type === 'Line';
    const last = texts.at(-1);
    if (isLine && last?.isLine && /^\n[^\S\n]*$/.test(code.slice(last.end, start))) {
      last.text += `\n${value}`;
      last.end = end;
    } else texts.push({ at: start, text: isLine ? value : withoutStars(value), end, isLine });
  }
  return texts.filter(({ text }) => !DIRECTIVE.test(text.trim()));
}

function withoutStars(value: string): string {
  return value.replaceAll(/^[^\S\n]*\*+ ?/gm, '');
}

function visit(node: Node, found: Found, isTest: boolean): void {
  const { type, start } = node;
  if (type === 'ImportDeclaration' || type === 'ExportAllDeclaration' || isType(node)) return;
  if (isWordList(node)) return;
  if (isTest) {
    const title = type === 'CallExpression' ? titleOf(node) : null;
    if (title !== null) found.titles.push({ at: start, text: title });
  } else {
    const text = textOf(node);
    if (text !== null) {
      found.strings.push({ at: start + (isElement(node) ? leadOf(node) : 0), text });
      for (const inner of insertsOf(node)) visit(inner, found, isTest);
      return;
    }
  }
  for (const inner of childrenOf(node)) visit(inner, found, isTest);
}

/** Types hold names, not messages; a cast holds both. */
function isType({ type, expression }: Node): boolean {
  return type.startsWith('TS') && expression === undefined;
}

/** `'a b c'.split(' ')`: data, not a message. */
function isWordList({ type, callee, arguments: args }: Node): boolean {
  if (type !== 'CallExpression') return false;
  const { type: kind, object, property } = callee as Node;
  if (kind !== 'MemberExpression' || (property as Node).name !== 'split') return false;
  const [separator] = args as Node[];
  return separator?.value === ' ' && textOf(withoutParentheses(object as Node)) !== null;
}

function withoutParentheses(node: Node): Node {
  return node.type === 'ParenthesizedExpression' ? withoutParentheses(node.expression as Node) : node;
}

/** A loop, because the check visits two million nodes. */
function childrenOf(node: Node): Node[] {
  const children: Node[] = [];
  for (const key in node) {
    const value = node[key];
    if (typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value)) children.push(...value.filter(isNode));
    else if (isNode(value)) children.push(value);
  }
  return children;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** The text that a node puts together, with a mark for each insertion; null if it is no text. */
function textOf(node: Node): string | null {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : null;
  if (node.type === 'TemplateLiteral')
    return (node.quasis as { value: { cooked: string | null } }[])
      .map(({ value }) => value.cooked ?? '')
      .join(EXEMPT);
  if (node.type === 'BinaryExpression' && node.operator === '+') {
    const [left, right] = [textOf(node.left as Node), textOf(node.right as Node)];
    return left === null && right === null ? null : (left ?? EXEMPT) + (right ?? EXEMPT);
  }
  return isElement(node) ? elementText(node) : null;
}

function isElement({ type }: Node): boolean {
  return type === 'JSXElement' || type === 'JSXFragment';
}

/** The words directly in an element, with those of the elements between them; null if it has none of its own. */
function elementText({ children }: Node): string | null {
  const parts = children as Node[];
  if (!parts.some(({ type, value }) => type === 'JSXText' && /\p{L}/u.test(String(value)))) return null;
  return parts.map(jsxText).join('').trim();
}

function jsxText(node: Node): string {
  if (node.type === 'JSXText') return String(node.value).replaceAll(/\s+/g, ' ');
  const inner = node.type === 'JSXExpressionContainer' ? (node.expression as Node) : node;
  return inner.type === 'Literal' && typeof inner.value === 'string'
    ? inner.value
    : (textOf(inner) ?? EXEMPT);
}

/** From the tag to the first character of the text. */
function leadOf({ start, children }: Node): number {
  const first = (children as Node[]).find(
    ({ type, value }) => type === 'JSXText' && /\S/.test(String(value)),
  );
  if (!first) return 0;
  const text = String(first.value);
  return first.start + text.length - text.trimStart().length - start;
}

/** Returns the insertions of a text, which may contain texts of their own. The parts of the text itself have been read already. */
function insertsOf(node: Node): Node[] {
  if (node.type === 'TemplateLiteral') return node.expressions as Node[];
  if (node.type === 'BinaryExpression')
    return [node.left as Node, node.right as Node].flatMap((side) =>
      textOf(side) === null ? [side] : insertsOf(side),
    );
  if (!isElement(node)) return [];
  const attributes = node.type === 'JSXElement' ? [node.openingElement as Node] : [];
  return [...attributes, ...(node.children as Node[]).flatMap((child) => jsxInserts(child))];
}

function jsxInserts(child: Node): Node[] {
  const inner = child.type === 'JSXExpressionContainer' ? (child.expression as Node) : child;
  return textOf(inner) === null ? [inner] : insertsOf(inner);
}

/** `describe('…')`, `test('…')`, `it.each(…)('…')`. */
function titleOf(call: Node): string | null {
  let callee = call.callee as Node;
  while (callee.type !== 'Identifier') {
    const next = callee.type === 'MemberExpression' ? callee.object : callee.callee;
    if (!isNode(next)) return null;
    callee = next;
  }
  const [title] = call.arguments as Node[];
  return title && /^(?:test|it|describe)$/.test(String(callee.name)) ? textOf(title) : null;
}

const SQL =
  /\b(?:SELECT|INSERT INTO|DELETE FROM|UPDATE \w+\.|SET LOCAL|WHERE|VALUES|ORDER BY|GROUP BY|CASE\s+WHEN|CREATE (?:TABLE|INDEX|UNIQUE)|ALTER TABLE|RETURNING|IS NULL|FOR UPDATE|BEGIN|UNION ALL|JOIN)\b/;
const CODE = /[{}]|=>|::|;\s*$|\w=\w|^[\w-]+:\S|^[./#@]|\(\?[:=!]|^(?:GET|POST|PUT|PATCH|DELETE|Bearer) /;

/** A message of at least two words: no identifier, statement, pattern, route or path. */
function isProse({ text }: Text): boolean {
  const plain = text.replaceAll(/\$?\{\{?[\w. |]*\}?\}|<[\w .|-]+>|`[^`]*`/g, EXEMPT);
  if (SQL.test(plain) || CODE.test(plain)) return false;
  const words = plain.trim().split(/\s+/);
  if (/^["“(]?\p{Lu}/u.test(plain)) return words.length > 1 && /[a-z]{2}/.test(plain);
  return words.length > 2 && /\p{Ll} \p{Ll}+ \p{Ll}/u.test(plain);
}

function lineFinder(code: string): (at: number) => number {
  const starts = [0];
  for (let at = code.indexOf('\n'); at >= 0; at = code.indexOf('\n', at + 1)) starts.push(at + 1);
  return (at) => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= at) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
}
