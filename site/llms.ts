import { type GuidePage, SECTIONS } from './pages.ts';

type Told = { base: string; textOf: (page: GuidePage) => string };

const SUMMARY =
  'A lifecycle-email backend for SaaS products that you run yourself: it takes users and events, decides by rules whether a letter is written, holds it for review, sends it once, and tells what became of it.';

/** `llms.txt`: what there is, one line a page, each leading to its Markdown. */
export function shortIndex({ base, textOf }: Told): string {
  const sections = SECTIONS.map(({ title, pages }) => {
    const lines = pages.map(
      (page) => `- [${page.title}](${base}${page.path}.md): ${firstSentence(textOf(page))}`,
    );
    return `## ${title}\n\n${lines.join('\n')}\n`;
  });
  return `# Beckon\n\n> ${SUMMARY}\n\nAll pages in one file: [llms-full.txt](${base === '/guide/' ? '/' : base}llms-full.txt). The API for tools: /openapi.json of a running server.\n\n${sections.join('\n')}`;
}

/** `llms-full.txt`: all of it, page after page. */
export function wholeText({ base, textOf }: Told): string {
  const pages = SECTIONS.flatMap((section) => section.pages);
  return pages.map((page) => `<!-- ${base}${page.path}.md -->\n\n${textOf(page).trim()}\n`).join('\n');
}

function firstSentence(markdown: string): string {
  const prose = markdown
    .split(/\n\s*\n/)
    .map((part) => part.trim())
    .find((part) => /^[\p{L}*“`[]/u.test(part));
  const words = (prose ?? '').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/\s+/g, ' ');
  return /^.*?[.:](?=\s|$)/.exec(words)?.[0].replace(/:$/, '.') ?? words;
}
