/** Markup that is safe to send. Only `html` creates it, so a text can never pass for markup. */
export type Html = { readonly [MARKUP]: string };
export type HtmlPart = Html | string | number | null | HtmlPart[];

/** Escapes every value in the template, for text and for quoted attributes alike, unless it is `Html` itself. */
export function html(strings: TemplateStringsArray, ...parts: HtmlPart[]): Html {
  return { [MARKUP]: strings.map((text, i) => text + markupOf(parts[i] ?? null)).join('') };
}

export function toText(markup: Html): string {
  return markup[MARKUP];
}

const MARKUP = Symbol('markup');

function markupOf(part: HtmlPart): string {
  if (part === null) return '';
  if (Array.isArray(part)) return part.map(markupOf).join('');
  if (typeof part === 'object') return part[MARKUP];
  return String(part).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
