import type { FastifyInstance } from 'fastify';
import { buildDocument, type ReferenceOptions } from './document.ts';

/** Serves the description of the public API for tools. It is built once, at start. */
export function mountReference(app: FastifyInstance, options: ReferenceOptions): void {
  const json = JSON.stringify(buildDocument(options));
  app.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(json));
}
