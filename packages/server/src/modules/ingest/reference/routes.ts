import { readFileSync } from 'node:fs';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { buildDocument, type ReferenceOptions } from './document.ts';
import { renderPage } from './page.ts';

/** Serves the description of the public API: `/openapi.json` for tools, `/docs` for people. Both are built once, at start. */
export function mountReference(app: FastifyInstance, options: ReferenceOptions): void {
  const document = buildDocument(options);
  const json = JSON.stringify(document);
  const page = renderPage(document);
  const style = STYLES.map((name) => readFileSync(new URL(name, import.meta.url), 'utf8')).join('\n');
  app.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(json));
  app.get('/docs', (_request, reply) => guarded(reply).type('text/html; charset=utf-8').send(page));
  app.get('/docs/style.css', (_request, reply) => guarded(reply).type('text/css; charset=utf-8').send(style));
}

const STYLES = ['./style-base.css', './style-parts.css'];

/** Only the style sheet may load. The page runs no script and sends no form, and no other page may frame it. */
const POLICY =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function guarded(reply: FastifyReply): FastifyReply {
  return reply.headers({ 'Content-Security-Policy': POLICY, 'Referrer-Policy': 'no-referrer' });
}
