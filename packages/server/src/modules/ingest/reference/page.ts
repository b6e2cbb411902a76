import { type Html, html, toText } from '../../../platform/http/html.ts';
import type { OpenApiDocument } from './openapi.ts';
import { endpointArticle } from './page-endpoint.ts';
import {
  canonicalEvents,
  faultList,
  headerTable,
  limitTable,
  parameterTable,
  rateLimitTable,
} from './page-tables.ts';
import { sections, type Section } from './prose.ts';

/** Renders the document as one page: no script, no image, no remote font, and one style sheet of this server. */
export function renderPage(document: OpenApiDocument): string {
  const [intro, ...guide] = sections(document.info.description);
  const base = document.servers[0]?.url ?? '';
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${document.info.title}</title>
        <link rel="stylesheet" href="/docs/style.css" />
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <div class="frame">
          ${contents(document, guide)}
          <main id="main" tabindex="-1">
            <header class="opening">
              <h1>${document.info.title}</h1>
              <p class="lead">${document.info.summary}</p>
              <dl class="facts">
                <div>
                  <dt>Base URL</dt>
                  <dd><code>${base}</code></dd>
                </div>
                <div>
                  <dt>Version</dt>
                  <dd><code>${document.info.version}</code></dd>
                </div>
                <div>
                  <dt>For tools</dt>
                  <dd><a href="/openapi.json">openapi.json</a></dd>
                </div>
              </dl>
              ${intro?.body ?? null}
            </header>
            ${guide.map(guideSection)}
            <section id="endpoints">
              <h2>Endpoints</h2>
              ${endpoints(document)}
            </section>
            ${tables(document).map(guideSection)}
          </main>
        </div>
      </body>
    </html> `;
  return toText(page);
}

function guideSection({ id, title, body }: Section): Html {
  return html`<section id="${id}">
    <h2>${title}</h2>
    ${body}
  </section> `;
}

function endpoints(document: OpenApiDocument): Html[] {
  return Object.entries(document.paths).map(([path, { post }]) =>
    endpointArticle(document, { path, operation: post }),
  );
}

function tables(document: OpenApiDocument): Section[] {
  return [
    { id: 'headers', title: 'Headers', body: [parameterTable(document), headerTable(document)] },
    { id: 'events', title: 'Canonical events', body: canonicalEvents(document) },
    { id: 'errors', title: 'Errors', body: [faultList(document)] },
    { id: 'limits', title: 'Limits', body: [limitTable(document), rateLimitTable(document)] },
  ];
}

function contents(document: OpenApiDocument, guide: Section[]): Html {
  const operations = Object.entries(document.paths).map(
    ([path, { post }]) =>
      html`<li><a class="path" href="#${post.operationId}">${path.replace('/api/v1', '')}</a></li>`,
  );
  const link = ({ id, title }: Section): Html => html`<li><a href="#${id}">${title}</a></li>`;
  return html`<nav aria-label="Contents">
    <p class="brand">Beckon</p>
    <ul>
      ${guide.map(link)}
    </ul>
    <p class="label"><a href="#endpoints">Endpoints</a></p>
    <ul>
      ${operations}
    </ul>
    <p class="label">Tables</p>
    <ul>
      ${tables(document).map(link)}
    </ul>
  </nav>`;
}
