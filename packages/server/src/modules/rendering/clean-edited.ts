import type sanitize from 'sanitize-html';
import { BAD_STYLE, isImage, isLink } from './addresses.ts';
import { type TemplateText, refused } from './template.ts';
import { partsOfPage } from './html.ts';

/**
 * Cleans a page that a person edited. Everything outside its body stays as it was, including styles. Within the body only allowed content
 * is kept. Layout comments for Outlook are kept unchanged if they are still in place.
 */
export async function cleanEdited(before: TemplateText, edited: TemplateText): Promise<TemplateText> {
  if (edited.format !== before.format)
    throw refused([
      { message: `format cannot change: this email has the format ${before.format}`, field: 'format' },
    ]);
  if (edited.format === 'markdown' || edited.body === before.body) return edited;
  const page = partsOfPage(before.body);
  const inside = partsOfPage(edited.body).inside;
  const { default: clean } = await import('sanitize-html');
  const { hidden, show } = hideComments(inside, page.inside);
  return { ...edited, body: page.before + show(clean(hidden, OPTIONS)) + page.behind };
}

type Hidden = { hidden: string; show: (html: string) => string };

/** Replaces comments that existed before by markers, and removes all others. */
function hideComments(html: string, before: string): Hidden {
  let sign = 'bkcomment';
  while (html.includes(sign)) sign += 'k';
  const existing = new Set(before.match(COMMENT));
  const kept: string[] = [];
  const hidden = html.replace(COMMENT, (comment) => {
    if (!existing.has(comment)) return '';
    kept.push(comment);
    return `${sign}${kept.length - 1}x`;
  });
  const signs = new RegExp(`${sign}(\\d+)x`, 'g');
  return { hidden, show: (clean) => clean.replace(signs, (_, number: string) => kept[Number(number)] ?? '') };
}

/** An unclosed comment extends to the end, as in a browser. */
const COMMENT = /<!--(?:[\s\S]*?-->|[\s\S]*$)/g;

const OPTIONS: sanitize.IOptions = {
  allowedTags: (
    'a abbr article b blockquote br caption center code col colgroup del div em figcaption figure footer h1 h2 h3 h4 h5 h6 ' +
    'header hr i img ins li main ol p pre s section small span strong sub sup table tbody td tfoot th thead tr u ul'
  ).split(' '),
  allowedAttributes: {
    '*': 'align aria-* bgcolor class dir height lang role style title valign width'.split(' '),
    a: ['href', 'name', 'target'],
    img: ['alt', 'border', 'src'],
    table: ['border', 'cellpadding', 'cellspacing'],
    td: ['colspan', 'rowspan'],
    th: ['colspan', 'rowspan', 'scope'],
    ol: ['start'],
  },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowProtocolRelative: false,
  parseStyleAttributes: false,
  transformTags: { '*': withoutBad },
};

function withoutBad(tagName: string, attribs: sanitize.Attributes): sanitize.Tag {
  const kept = Object.entries(attribs).filter(([name, value]) => {
    if (name === 'href') return isLink(value);
    if (name === 'src') return isImage(value);
    return name !== 'style' || !BAD_STYLE.test(value);
  });
  return { tagName, attribs: Object.fromEntries(kept) };
}
