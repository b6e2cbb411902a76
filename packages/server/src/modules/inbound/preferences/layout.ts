import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Html, html, type HtmlPart, toText } from '../../../platform/http/html.ts';
import { isLanguage, type Language, LANGUAGES } from '../../../platform/recipient-texts/languages.ts';

const css = readFileSync(new URL('./style.css', import.meta.url), 'utf8');

/** Inlined, so that the page is one response. The policy allows it by its hash, and no other style. */
const STYLE_ELEMENT = `<style>${css}</style>`;
export const STYLE_HASH = `'sha256-${createHash('sha256').update(css).digest('base64')}'`;

type RecipientPage = {
  language: Language;
  /** The path of the link; null if the link is invalid. */
  path: string | null;
  projectName: string | null;
  title: string;
  body: HtmlPart;
};

/** Returns a whole page, without scripts and without anything to load. */
export function layout({ language, path, projectName, title, body }: RecipientPage): string {
  const page = html`<!doctype html>
    <html lang="${language}" dir="${LANGUAGES[language].dir}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex, nofollow" />
        <title>${title}</title>
        ${STYLE_PLACE}
      </head>
      <body>
        <main>${projectName === null ? null : from(projectName)}${body}</main>
        ${path === null ? null : languageLinks(language, path)}
      </body>
    </html> `;
  return toText(page).replace(toText(STYLE_PLACE), () => STYLE_ELEMENT);
}

/** Text cannot contain this placeholder, because it would be escaped. */
const STYLE_PLACE = html`<style></style>`;

/** Fills the placeholders of a text. A value may have another direction than the text, so it is isolated. */
export function fill(text: string, values: Record<string, string>): Html {
  const parts = text
    .split(/\{(\w+)\}/)
    .map((part, i) => (i % 2 === 0 ? part : html`<bdi>${values[part] ?? ''}</bdi>`));
  return html`${parts}`;
}

function from(projectName: string): Html {
  return html`<p class="from">
    <span class="mark" aria-hidden="true">${initialOf(projectName)}</span><bdi>${projectName}</bdi>
  </p>`;
}

/** The first character as readers see it, which may be several code points. */
function initialOf(name: string): string {
  const [first] = new Intl.Segmenter().segment(name);
  return first?.segment.toLocaleUpperCase('en') ?? '';
}

function languageLinks(present: Language, path: string): Html {
  const items = Object.keys(LANGUAGES)
    .filter(isLanguage)
    .map((language) => {
      const name = LANGUAGES[language].language;
      return language === present
        ? html`<li><b aria-current="true">${name}</b></li>`
        : html`<li>
            <a href="${path}?lang=${language}" lang="${language}" hreflang="${language}">${name}</a>
          </li>`;
    });
  return html`<nav class="tongues" aria-label="${LANGUAGES[present].languages}">
    <ul>
      ${items}
    </ul>
  </nav>`;
}
