import { type Html, html, type Part, toText } from '../reference/html.ts';
import { isLanguage } from './language.ts';
import { STYLE_ELEMENT } from './style.ts';
import { type Language, LANGUAGES } from './words/index.ts';

export type Page = {
  language: Language;
  /** Of the link; null where it leads nowhere. */
  path: string | null;
  projectName: string | null;
  title: string;
  body: Part;
};

/** One answer, with no script and nothing to load, in whatever direction its language is written. */
export function layout({ language, path, projectName, title, body }: Page): string {
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
        ${path === null ? null : tongues(language, path)}
      </body>
    </html> `;
  return toText(page).replace(toText(STYLE_PLACE), () => STYLE_ELEMENT);
}

/** Text cannot contain it: it would be escaped. */
const STYLE_PLACE = html`<style></style>`;

/** Where `{name}` stands comes what belongs there; whatever language it is in does not disturb the words around it. */
export function fill(text: string, values: Record<string, string>): Html {
  const parts = text
    .split(/\{(\w+)\}/)
    .map((part, i) => (i % 2 === 0 ? part : html`<bdi>${values[part] ?? ''}</bdi>`));
  return html`${parts}`;
}

export function fillText(text: string, values: Record<string, string>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
}

function from(projectName: string): Html {
  return html`<p class="from">
    <span class="mark" aria-hidden="true">${initialOf(projectName)}</span><bdi>${projectName}</bdi>
  </p>`;
}

/** What a reader takes for its first letter, however many signs it is made of. */
function initialOf(name: string): string {
  const [first] = new Intl.Segmenter().segment(name);
  return first?.segment.toLocaleUpperCase('en') ?? '';
}

function tongues(present: Language, path: string): Html {
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
