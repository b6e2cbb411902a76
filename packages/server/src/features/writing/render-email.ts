import { UNSUBSCRIBE } from './addresses.ts';
import { escapeHtml } from './html-text.ts';
import { laidOut } from './layout.ts';
import type { LetterText } from './letter.ts';
import { partsOfPage } from './scan-html.ts';
import { markdownToHtml } from './markdown-html.ts';
import { plainText } from './plain-text.ts';

/** What stands around a letter, whoever wrote it. */
export type EmailFrame = {
  projectName: string;
  postalAddress: string | null;
  /** What the project says at the foot of all of them. */
  footer?: string | null;
  unsubscribeUrl: string | null;
  /** Of the letter, such as `en`. */
  language?: string;
};

/** `links`: every address that the letter leads to, once each. `troubles`: what a person should know before it leaves. */
export type Email = { html: string; text: string; links: string[]; troubles: string[] };

const OWN_LINK = `href="${UNSUBSCRIBE}"`;

/** What is longer is cut off by Gmail, and nobody reads it. */
const HTML_MAX_BYTES = 100_000;
const UNSEEN = 'display:none;max-height:0;overflow:hidden;mso-hide:all;';

/** The letter as it leaves, and as it is shown beforehand: there is no other way from a content to what is sent. */
export function renderEmail(content: LetterText, frame: EmailFrame): Email {
  const troubles = new Set<string>();
  const { html, shown } =
    content.format === 'markdown' ? inLayout(content, frame, troubles) : asPage(content, frame);
  const { text, links } = plainText(shown);
  const size = Buffer.byteLength(html);
  if (size > HTML_MAX_BYTES) {
    troubles.add(
      `It has ${size.toLocaleString('en-US')} bytes of HTML; mail programs cut off what is longer than ${HTML_MAX_BYTES.toLocaleString('en-US')}`,
    );
  }
  return { html, text, links, troubles: [...troubles] };
}

/** `shown`: what its plain text is made of; the same HTML without the layout, in which there are no words. */
type Laid = { html: string; shown: string };

function inLayout(content: LetterText, frame: EmailFrame, troubles: Set<string>): Laid {
  const body = markdownToHtml(content.body, troubles);
  const footer = footerOf(frame, true);
  const html = laidOut({
    LANGUAGE: escapeHtml(frame.language ?? 'en'),
    TITLE: escapeHtml(content.subject),
    PREHEADER: preheaderOf(content.preheader),
    BODY: body,
    FOOTER: footer,
  });
  return { html, shown: `${body}<hr>${footer}` };
}

function preheaderOf(preheader: string): string {
  return preheader === '' ? '' : `<div style="${UNSEEN}">${escapeHtml(preheader)}</div>`;
}

const LINE = 'margin:0 0 8px;';
const LINK = 'display:inline-block;padding:11px 0;color:#0b57d0;text-decoration:underline;';

/** Who writes and why, and the way out. */
function footerOf(frame: EmailFrame, hasLink: boolean): string {
  const { projectName, postalAddress, footer, unsubscribeUrl } = frame;
  const name = escapeHtml(projectName);
  const whose = postalAddress?.startsWith(projectName) === true ? '' : `${name}<br>`;
  const why = `<p style="${LINE}">You get this letter because you are a user of ${name}.</p>`;
  const address = (postalAddress ?? '')
    .split(/\r\n?|\n/)
    .map((line) => escapeHtml(line.trim()))
    .filter((line) => line !== '')
    .join('<br>');
  const whence = address === '' ? '' : `<p style="${LINE}">${whose}${address}</p>`;
  const own = footer ? `<p style="${LINE}">${escapeHtml(footer)}</p>` : '';
  if (!hasLink || unsubscribeUrl === null) return why + own + whence;
  const href = escapeHtml(unsubscribeUrl);
  return `${why}${own}${whence}<p style="margin:0;"><a href="${href}" style="${LINK}">Unsubscribe</a></p>`;
}

const FOOT =
  "max-width:552px;margin:0 auto;padding:16px 24px 32px;font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;font-size:14px;line-height:22px;color:#5c6370;background-color:#ffffff;";

/** A page that was laid out by itself. It gets what every letter must have, but no second link to unsubscribe. */
function asPage({ body, preheader }: LetterText, frame: EmailFrame): Laid {
  const hasOwn = body.includes(OWN_LINK);
  const url = frame.unsubscribeUrl;
  const page = hasOwn ? body.replaceAll(OWN_LINK, url === null ? '' : `href="${escapeHtml(url)}"`) : body;
  const foot = `<div style="${FOOT}">${footerOf(frame, !hasOwn)}</div>`;
  const html = between(page, { preheader: preheaderOf(preheader), foot });
  return { html, shown: html };
}

function between(page: string, { preheader, foot }: { preheader: string; foot: string }): string {
  const { before, inside, behind } = partsOfPage(page);
  return `${before}${preheader}${inside}${foot}${behind}`;
}
