import { posix } from 'node:path';
import { PAGES } from './pages.ts';
import { slugOf } from './slug.ts';

/** A link or an image of a page. `target` is as in the source; `line` counts from 1. */
export type Link = { isImage: boolean; text: string; target: string; line: number };

/** A fenced block; `info` is the text after the language. */
export type Fence = { language: string; info: string; text: string; line: number };

const LINK = /(!?)\[((?:[^[\]]|\[[^[\]]*\])*)\]\(([^()\s]+)\)/g;

/** Returns every link outside of code. */
export function linksOf(markdown: string): Link[] {
  return partsOf(markdown)
    .filter(({ isCode }) => !isCode)
    .flatMap(({ text, line }) => {
      const prose = text.replaceAll(CODE, (code) => code.replaceAll(/[^\n]/g, '`'));
      return [...prose.matchAll(LINK)].flatMap(({ 1: mark, 2: words = '', 3: target = '', index }) => {
        const at = line + prose.slice(0, index).split('\n').length - 1;
        // An image may be inside a link.
        const inner = [...words.matchAll(LINK)].map(([, , within = '', to = '']) => ({
          text: within,
          target: to,
        }));
        return [
          { isImage: mark === '!', text: words, target, line: at },
          ...inner.map((link) => ({ ...link, isImage: true, line: at })),
        ];
      });
    });
}

/** Returns the anchors of a page. The second of two equal headings gets the suffix `-1`. */
export function anchorsOf(markdown: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = new Set<string>();
  const headings = partsOf(markdown)
    .filter(({ isCode }) => !isCode)
    .flatMap(({ text }) => [...text.matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)].map(([, heading = '']) => heading));
  for (const heading of headings) {
    const slug = slugOf(heading.replaceAll(LINK, '$2').replaceAll('`', ''));
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    anchors.add(times === 0 ? slug : `${slug}-${times}`);
  }
  return anchors;
}

export function fencesOf(markdown: string): Fence[] {
  const fences: Fence[] = [];
  let open: (Fence & { mark: string }) | null = null;
  for (const [index, text] of markdown.split('\n').entries()) {
    if (open === null) {
      const start = /^ {0,3}(`{3,})(\S*)(.*)$/.exec(text);
      if (!start) continue;
      const [, mark = '', language = '', info = ''] = start;
      open = { mark, language, info: info.trim(), text: '', line: index + 1 };
    } else if (text.trim() === open.mark) {
      const { language, info, text: inside, line } = open;
      fences.push({ language, info, text: inside, line });
      open = null;
    } else open.text += `${text}\n`;
  }
  return fences;
}

/**
 * Turns a file of the repository into a page of the guide. Links to other pages are adapted, links to files outside of the guide
 * become plain text, and comments are removed.
 */
export function asPage(markdown: string, file: string): string {
  return partsOf(markdown)
    .map(({ text, isCode }) => {
      if (isCode) return text;
      return outsideCode(text, (prose) => relink(prose, file))
        .split('\n')
        .filter((line) => !/^<!--.*-->$/.test(line))
        .join('\n');
    })
    .join('\n');
}

function relink(prose: string, file: string): string {
  return prose.replaceAll(LINK, (...[whole = '', mark, words = '', target = '']: string[]) => {
    if (/^(?:[a-z]+:|#|\/)/.test(target)) return whole;
    const [path = '', anchor] = target.split('#', 2);
    const linkedFile = posix.join(posix.dirname(file), path);
    if (mark === '!') return `![${words}](./${posix.relative('docs', linkedFile)})`;
    const page = PAGES.find((candidate) => candidate.file === linkedFile);
    if (!page) return words;
    return `[${words}](./${page.path}.md${anchor === undefined ? '' : `#${anchor}`})`;
  });
}

/** Splits a page into prose and fenced code, with the number of the first line, from 1. */
function partsOf(markdown: string): { text: string; line: number; isCode: boolean }[] {
  const parts: { lines: string[]; line: number; isCode: boolean }[] = [];
  let mark: string | null = null;
  for (const [index, line] of markdown.split('\n').entries()) {
    const fence = /^ {0,3}(`{3,})/.exec(line)?.[1] ?? null;
    const isCode = mark !== null || fence !== null;
    const isStart = mark === null && fence !== null;
    const last = parts.at(-1);
    if (last && last.isCode === isCode && !isStart) last.lines.push(line);
    else parts.push({ lines: [line], line: index + 1, isCode });
    if (mark === null) mark = fence;
    else if (line.trim() === mark) mark = null;
  }
  return parts.map(({ lines, line, isCode }) => ({ text: lines.join('\n'), line, isCode }));
}

/** Inline code within a paragraph. */
const CODE = /(`+)(?!`)(?:(?!\n\n)[^])*?\1(?!`)/g;

/** Changes only the text outside of inline code. */
function outsideCode(text: string, change: (prose: string) => string): string {
  const kept: string[] = [];
  const open = text.replaceAll(CODE, (code) => `\ue000${kept.push(code) - 1}\ue000`);
  return change(open).replaceAll(/\ue000(\d+)\ue000/g, (_whole, index: string) => kept[Number(index)] ?? '');
}
