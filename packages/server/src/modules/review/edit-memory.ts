import type { EditChange } from '@beckon/contract/dashboard';
import { diffLists } from '../../platform/text/list-diff.ts';
import type { DraftContent } from '../drafts/index.ts';
import type { EditedDraft } from './edited-drafts.ts';

/**
 * A change that members make to the drafts of a template again and again. Drafts of one template differ because they are for different
 * users. So facts about the user are replaced with their variables before drafts are compared.
 */
export type TemplateEditChange = Omit<EditChange, 'template'>;

const CHANGES_MAX = 20;
const DRAFTS_NAMED = 5;
/** A change made only once is not a pattern. */
const RECURS = 2;

export function recurringChanges(
  edited: Pick<EditedDraft, 'id' | 'facts' | 'before' | 'after'>[],
): TemplateEditChange[] {
  const found = new Map<string, Found>();
  for (const draft of edited) {
    for (const change of changesOf(draft)) {
      const key = JSON.stringify([change.part, change.kind, change.before, change.after]);
      const entry = found.get(key) ?? { change, drafts: [], paragraphs: [] };
      found.set(key, entry);
      if (!entry.drafts.includes(draft.id)) entry.drafts.push(draft.id);
      if (change.paragraph !== null) entry.paragraphs.push(change.paragraph);
    }
  }
  return [...found.values()]
    .filter(({ drafts }) => drafts.length >= RECURS)
    .toSorted((a, b) => b.drafts.length - a.drafts.length)
    .slice(0, CHANGES_MAX)
    .map((entry) => toChange(entry, edited.length));
}

type TextChange = Pick<TemplateEditChange, 'part' | 'kind' | 'before' | 'after' | 'paragraph'>;
type Found = { change: TextChange; drafts: string[]; paragraphs: number[] };

function toChange({ change, drafts, paragraphs }: Found, total: number): TemplateEditChange {
  const paragraph = mostFrequent(paragraphs);
  const count = drafts.length;
  const sentence = `${count} of ${total} ${wordsOf({ ...change, paragraph })}`;
  return { ...change, paragraph, count, total, sentence, drafts: drafts.slice(0, DRAFTS_NAMED) };
}

function changesOf({ facts, before, after }: Pick<EditedDraft, 'facts' | 'before' | 'after'>): TextChange[] {
  const variable = toVariables(facts);
  const of = (content: DraftContent, part: TemplateEditChange['part']): string =>
    variable(content[part].replaceAll('\r\n', '\n'));
  return [
    ...wordChanges('subject', of(before, 'subject'), of(after, 'subject')),
    ...wordChanges('preheader', of(before, 'preheader'), of(after, 'preheader')),
    ...bodyChanges(of(before, 'body'), of(after, 'body')),
  ];
}

/** A shorter value occurs in too many unrelated words. */
const VALUE_MIN_CHARS = 3;

function toVariables(facts: Record<string, unknown>): (text: string) => string {
  const values = Object.entries(facts)
    .flatMap(([name, value]): [string, string][] => {
      const text = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
      return text.trim().length < VALUE_MIN_CHARS ? [] : [[name, text]];
    })
    .toSorted((a, b) => b[1].length - a[1].length);
  return (text) =>
    values.reduce((replaced, [name, value]) => replaced.replaceAll(value, `{{ ${name} }}`), text);
}

function paragraphsOf(body: string): string[] {
  return body
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '');
}

function bodyChanges(before: string, after: string): TextChange[] {
  return diffLists(paragraphsOf(before), paragraphsOf(after)).flatMap(({ at, removed, added }) => {
    const rest = [...added];
    const changes: TextChange[] = [];
    for (const [i, paragraph] of removed.entries()) {
      // A rewritten paragraph keeps its position and some of its words.
      const next = rest[0];
      if (next !== undefined && isRewritten(paragraph, next)) {
        rest.shift();
        changes.push(...wordChanges('body', paragraph, next));
      } else
        changes.push({ part: 'body', kind: 'removed', before: paragraph, after: '', paragraph: at + i + 1 });
    }
    const where = { part: 'body', kind: 'added', before: '', paragraph: at + removed.length + 1 } as const;
    return [...changes, ...rest.map((paragraph): TextChange => ({ ...where, after: paragraph }))];
  });
}

/** The share of words that must remain for it to be the same paragraph. */
const KEPT_SHARE = 0.4;

function isRewritten(before: string, after: string): boolean {
  const [from, to] = [wordsIn(before), wordsIn(after)];
  const removed = diffLists(from, to).reduce((sum, hunk) => sum + hunk.removed.length, 0);
  return from.length - removed >= KEPT_SHARE * Math.max(from.length, to.length);
}

/** A variable counts as one word, whatever it contains. */
function wordsIn(text: string): string[] {
  return text.match(/\{\{[^}]*\}\}\S*|\S+/g) ?? [];
}

function wordChanges(part: TemplateEditChange['part'], before: string, after: string): TextChange[] {
  return diffLists(wordsIn(before), wordsIn(after)).map(({ removed, added }) => {
    const kind = added.length === 0 ? 'removed' : removed.length === 0 ? 'added' : 'replaced';
    return { part, kind, before: removed.join(' '), after: added.join(' '), paragraph: null };
  });
}

const ORDINALS = [
  'first',
  'second',
  'third',
  'fourth',
  'fifth',
  'sixth',
  'seventh',
  'eighth',
  'ninth',
  'tenth',
];
const QUOTE_CHARS = 60;

function wordsOf({ part, kind, before, after, paragraph }: TextChange): string {
  const where = part === 'body' ? '' : ` in the ${part}`;
  if (kind === 'replaced') return `wrote “${cut(after)}” for “${cut(before)}”${where}`;
  if (paragraph === null)
    return kind === 'removed' ? `removed “${cut(before)}”${where}` : `added “${cut(after)}”${where}`;
  if (kind === 'added') return `added a paragraph: “${cut(after)}”`;
  const which = ORDINALS[paragraph - 1];
  return which ? `removed the ${which} paragraph` : `removed the paragraph “${cut(before)}”`;
}

function cut(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > QUOTE_CHARS ? `${line.slice(0, QUOTE_CHARS - 1)}…` : line;
}

function mostFrequent(numbers: number[]): number | null {
  const counted = [...Map.groupBy(numbers, (number) => number)].toSorted((a, b) => b[1].length - a[1].length);
  return counted[0]?.[0] ?? null;
}

/**
 * Applies the changes to a template source, or returns null if none of them is found in it. Variables are matched by name, so their
 * fallbacks and filters are kept.
 */
export function applyChanges(
  source: string,
  part: TemplateEditChange['part'],
  changes: TemplateEditChange[],
): { text: string; applied: number } | null {
  let [text, applied] = [source, 0];
  for (const change of changes) {
    if (change.part !== part) continue;
    const next = change.paragraph === null ? replaceWords(text, change) : replaceParagraph(text, change);
    if (next === null) continue;
    [text, applied] = [next, applied + 1];
  }
  return applied === 0 ? null : { text, applied };
}

/** Replaces the words if they occur exactly once. Words that were only added have no position in the source. */
function replaceWords(text: string, { before, after }: TemplateEditChange): string | null {
  if (before === '') return null;
  const matches = [...text.matchAll(sourcePattern(before))];
  const [match] = matches;
  if (!match || matches.length > 1) return null;
  const [from, to] = [text.slice(0, match.index), text.slice(match.index + match[0].length)];
  return after === ''
    ? `${from.trimEnd()}${from.trimEnd() === '' ? '' : ' '}${to.trimStart()}`
    : `${from}${after}${to}`;
}

function replaceParagraph(
  text: string,
  { kind, before, after, paragraph }: TemplateEditChange,
): string | null {
  const paragraphs = text.split(/\n\s*\n/);
  if (kind === 'added') return paragraphs.toSpliced((paragraph ?? 1) - 1, 0, after).join('\n\n');
  const at = paragraphs.findIndex((candidate) => sourcePattern(before, true).test(candidate.trim()));
  return at < 0 ? null : paragraphs.toSpliced(at, 1).join('\n\n');
}

/** Matches words in a template source: with any kind of space, and with any filters after the name of a variable. */
function sourcePattern(words: string, whole = false): RegExp {
  const pattern = words
    .split(/(\{\{ [^}]* \}\}|\s+)/)
    .map((piece) => {
      const name = /^\{\{ (.*) \}\}$/.exec(piece)?.[1];
      if (name !== undefined) return `\\{\\{-?\\s*${RegExp.escape(name)}\\b[^}]*\\}\\}`;
      return /^\s+$/.test(piece) ? '\\s+' : RegExp.escape(piece);
    })
    .join('');
  return new RegExp(whole ? `^${pattern}$` : pattern, 'g');
}
