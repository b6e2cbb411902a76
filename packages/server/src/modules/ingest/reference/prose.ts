import { type Html, html } from '../../../platform/http/html.ts';

/** The parts of Markdown that this page needs: `## ` headings, `- ` lists, paragraphs, code in backticks. */
export type Section = { id: string; title: string; body: Html[] };

/** Splits the text into sections. Text before the first heading has an empty title. */
export function sections(markdown: string): Section[] {
  const all: Section[] = [{ id: '', title: '', body: [] }];
  for (const block of markdown.split(/\n{2,}/)) {
    const title = /^## (.+)$/.exec(block)?.[1];
    if (title === undefined) all.at(-1)?.body.push(paragraphOrList(block));
    else all.push({ id: toId(title), title, body: [] });
  }
  return all;
}

export function paragraphs(markdown: string): Html[] {
  return markdown.split(/\n{2,}/).map(paragraphOrList);
}

/** Every second piece between backticks is code. */
export function inline(text: string): Html[] {
  return text.split('`').map((piece, i) => (i % 2 === 1 ? html`<code>${piece}</code>` : html`${piece}`));
}

function toId(title: string): string {
  return title.toLowerCase().replace(/[^a-z0-9_]+/g, '-');
}

function paragraphOrList(block: string): Html {
  if (!block.startsWith('- ')) return html`<p>${inline(block)}</p>`;
  const items = block.split(/^- /m).slice(1);
  return html`<ul>
    ${items.map((item) => html`<li>${inline(item.trim())}</li>`)}
  </ul>`;
}
