import { UNSUBSCRIBE } from './addresses.ts';
import { checkHtmlSize } from './html-limits.ts';
import { escapeHtml, partsOfPage } from './html.ts';
import { laidOut } from './layout.ts';
import { markdownToHtml } from './markdown-html.ts';
import { plainText } from './plain-text.ts';
import type { TemplateText } from './template.ts';
import { languageOfLocale, LANGUAGES } from '../../platform/recipient-texts/languages.ts';
import { fillText } from '../../platform/recipient-texts/recipient-texts.ts';
import { directionOf } from '../../platform/text/locale.ts';

/** The data around the content of an email. */
export type EmailFrame = {
  projectName: string;
  postalAddress: string | null;
  /** The project's own line in the footer. */
  footer?: string | null;
  unsubscribeUrl: string | null;
  /** The recipient's locale, such as `de-AT`. */
  locale: string;
  /** The footer uses this locale if it is not translated into the recipient's language. */
  projectLocale: string;
};

/** `links`: every URL that the email links to, once each. `warnings`: warnings to show before it is sent. */
export type Email = { html: string; text: string; links: string[]; warnings: string[] };

const UNSUBSCRIBE_HREF = `href="${UNSUBSCRIBE}"`;

/** Gmail clips longer emails. */
const CLIPPED_BYTES = 100_000;
const UNSEEN = 'display:none;max-height:0;overflow:hidden;mso-hide:all;';

/**
 * Renders an email. Previews, test copies and sent emails all come from this function. Throws a fault of the field `body` if
 * its tables, links or HTML exceed their limits (`html-limits.ts`).
 */
export function renderEmail(content: TemplateText, frame: EmailFrame): Email {
  const warnings = new Set<string>();
  const { html, textHtml } =
    content.format === 'markdown' ? inLayout(content, frame, warnings) : asPage(content, frame);
  const size = Buffer.byteLength(html);
  checkHtmlSize(size);
  const { text, links } = plainText(textHtml);
  if (size > CLIPPED_BYTES) {
    warnings.add(
      `It has ${size.toLocaleString('en-US')} bytes of HTML. Email clients cut it off after ${CLIPPED_BYTES.toLocaleString('en-US')}`,
    );
  }
  return { html, text, links, warnings: [...warnings] };
}

/** `textHtml`: the HTML from which the plain text is made. It omits the layout, which has no text. */
type RenderedPage = { html: string; textHtml: string };

function inLayout(content: TemplateText, frame: EmailFrame, warnings: Set<string>): RenderedPage {
  const body = markdownToHtml(content.body, warnings);
  const footer = footerOf(frame, true);
  const direction = directionOf(frame.locale);
  const html = laidOut({
    LANGUAGE: escapeHtml(frame.locale),
    DIRECTION: direction,
    TITLE: escapeHtml(content.subject),
    PREHEADER: preheaderOf(content.preheader),
    BODY: `<div dir="auto"${direction === 'rtl' ? ' style="text-align:start;"' : ''}>${body}</div>`,
    FOOTER: footer,
  });
  return { html, textHtml: `${body}<hr>${footer}` };
}

function preheaderOf(preheader: string): string {
  return preheader === '' ? '' : `<div style="${UNSEEN}">${escapeHtml(preheader)}</div>`;
}

const LINE = 'margin:0 0 8px;';
const LINK = 'display:inline-block;padding:11px 0;color:#0b57d0;text-decoration:underline;';

/** Returns the footer: the reason for the email, the project's own line, its postal address, and the unsubscribe link. */
function footerOf(frame: EmailFrame, hasLink: boolean): string {
  const { projectName, unsubscribeUrl } = frame;
  const language = languageOfLocale(frame.locale) ?? languageOfLocale(frame.projectLocale) ?? 'en';
  const { dir, emailReason, emailUnsubscribe } = LANGUAGES[language];
  const reason = fillText(escapeHtml(emailReason), { project: escapeHtml(projectName) });
  const link =
    hasLink && unsubscribeUrl !== null
      ? `<p style="margin:0;"><a href="${escapeHtml(unsubscribeUrl)}" style="${LINK}">${escapeHtml(emailUnsubscribe)}</a></p>`
      : '';
  const align = dir === 'rtl' ? ' style="text-align:right;"' : '';
  return `<div lang="${language}" dir="${dir}"${align}><p style="${LINE}">${reason}</p>${senderLines(frame)}${link}</div>`;
}

/** The project may use any language for these lines, so their direction is that of their text. */
function senderLines({ projectName, postalAddress, footer }: EmailFrame): string {
  const senderName = postalAddress?.startsWith(projectName) === true ? '' : `${escapeHtml(projectName)}<br>`;
  const address = (postalAddress ?? '')
    .split(/\r\n?|\n/)
    .map((line) => escapeHtml(line.trim()))
    .filter((line) => line !== '')
    .join('<br>');
  const footerLine = footer ? `<p dir="auto" style="${LINE}">${escapeHtml(footer)}</p>` : '';
  return address === ''
    ? footerLine
    : `${footerLine}<p dir="auto" style="${LINE}">${senderName}${address}</p>`;
}

const FOOT =
  "max-width:552px;margin:0 auto;padding:16px 24px 32px;font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;font-size:14px;line-height:22px;color:#5c6370;background-color:#ffffff;";

/** The attributes that MJML writes into a page without a language. */
const NO_LANGUAGE = /(<(?:html|div)\b[^>]*?) lang="und" dir="auto"/g;

/** Renders a page with its own layout. It gets everything that an email must have, but no second unsubscribe link. */
function asPage({ body, preheader }: TemplateText, frame: EmailFrame): RenderedPage {
  const hasUnsubscribeLink = body.includes(UNSUBSCRIBE_HREF);
  const url = frame.unsubscribeUrl;
  const page = hasUnsubscribeLink
    ? body.replaceAll(UNSUBSCRIBE_HREF, url === null ? '' : `href="${escapeHtml(url)}"`)
    : body;
  const foot = `<div style="${FOOT}">${footerOf(frame, !hasUnsubscribeLink)}</div>`;
  const language = ` lang="${escapeHtml(frame.locale)}" dir="${directionOf(frame.locale)}"`;
  const localized = page.replace(NO_LANGUAGE, (_, tag: string) => tag + language);
  const html = between(localized, { preheader: preheaderOf(preheader), foot });
  return { html, textHtml: html };
}

function between(page: string, { preheader, foot }: { preheader: string; foot: string }): string {
  const { before, inside, behind } = partsOfPage(page);
  return `${before}${preheader}${inside}${foot}${behind}`;
}

/** Renders a plain email of the installation itself: its text, with links for its URLs. */
export function renderTeamEmail({ subject, text }: { subject: string; text: string }): string {
  const body = escapeHtml(text).replace(
    /https?:\/\/[^\s<>"]+[^\s<>".,;:)]/g,
    (url) => `<a href="${url}">${url}</a>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>${escapeHtml(subject)}</title></head>
<body style="margin:24px;font:16px/1.5 -apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"><div style="max-width:600px;white-space:pre-wrap">${body}</div></body></html>`;
}
