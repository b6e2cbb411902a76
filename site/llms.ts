import { type GuidePage, SECTIONS } from './pages.ts';

type GuideText = { base: string; textOf: (page: GuidePage) => string };

const SUMMARY =
  'A self-hosted lifecycle-email backend for SaaS products: it receives users and events, rules decide who gets an email, each draft waits for review, is sent at most once, and its outcome is reported by webhook.';

/** `llms.txt`: one line per page, with a link to its Markdown. */
export function shortIndex({ base, textOf }: GuideText): string {
  const sections = SECTIONS.map(({ title, pages }) => {
    const lines = pages.map(
      (page) => `- [${page.title}](${base}${page.path}.md): ${firstSentence(textOf(page))}`,
    );
    return `## ${title}\n\n${lines.join('\n')}\n`;
  });
  return `# Beckon\n\n> ${SUMMARY}\n\nAll pages in one file: [llms-full.txt](${base === '/guide/' ? '/' : base}llms-full.txt). The API for tools: /openapi.json of a running server.\n\n${sections.join('\n')}`;
}

/** `llms-full.txt`: all pages in one file. */
export function wholeText({ base, textOf }: GuideText): string {
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
