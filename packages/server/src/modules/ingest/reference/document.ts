import { CANONICAL_EVENTS, FAULT_MESSAGES, type FaultCode } from '@beckon/contract';
import { components } from './components.ts';
import { FAULT_GUIDE } from './fault-guide.ts';
import { GUIDE } from './guide.ts';
import { limitEntries, rateLimitEntries } from './limits.ts';
import type { FaultEntry, OpenApiDocument } from './openapi.ts';
import { paths } from './paths.ts';
import { statusesOf } from './responses.ts';

export type ReferenceOptions = { publicUrl: string; version: string };

/** Builds the OpenAPI 3.1 document of the public API, from the schemas, limits and faults that the server itself uses. */
export function buildDocument({ publicUrl, version }: ReferenceOptions): OpenApiDocument {
  const base = publicUrl.replace(/(?<!\/)\/+$/, '');
  return {
    openapi: '3.1.0',
    info: {
      title: 'Beckon API',
      summary: 'Users and events in, from your server, over JSON.',
      description: GUIDE,
      version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: base, description: 'This server' }],
    security: [{ apiKey: [] }],
    tags: [
      { name: 'Users', description: 'Create and update your users.' },
      { name: 'Events', description: 'Record actions of your users.' },
    ],
    paths: paths(base),
    components: components(),
    'x-faults': faults(),
    'x-limits': limitEntries(),
    'x-rate-limits': rateLimitEntries(),
    'x-canonical-events': CANONICAL_EVENTS,
  };
}

function faults(): FaultEntry[] {
  return (Object.keys(FAULT_MESSAGES) as FaultCode[]).map((code) => ({
    code,
    statuses: statusesOf(code),
    message: FAULT_MESSAGES[code],
    ...FAULT_GUIDE[code],
  }));
}
