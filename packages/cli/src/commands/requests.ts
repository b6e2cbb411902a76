import type { IngestRequest } from '@beckon/contract/dashboard';
import { list, type Noun } from '../framework/declare.ts';
import { plain } from '../output/words.ts';

export const requests: Noun = {
  name: 'requests',
  help: 'List requests to the public API',
  commands: [
    list('GET /projects/:project/requests', 'list [filter...]', {
      help: 'List requests to the public API, newest first. Equal ones of the same moment are one row.',
      args: { filter: 'Filter terms such as endpoint:events status:422 code:validation_failed key:server' },
      isPaged: true,
      row: (request, { when }) => ({
        time: when(request.at),
        endpoint: request.endpoint,
        status: request.status,
        result: resultOf(request),
        requests: request.requests,
        accepted: request.accepted,
        rejected: request.rejected,
        key: request.key && (request.key.label ?? request.key.id),
        slowest: request.slowest_ms === null ? null : `${Math.round(request.slowest_ms)} ms`,
        'request ID': request.request_id,
      }),
      empty: 'No requests yet. Send an event: beckon track <user> <event>',
    }),
  ],
};

function resultOf({ replayed, code, faults: [fault] }: IngestRequest): string {
  if (replayed) return 'idempotent replay';
  const why = fault && `${fault.field ?? ''} ${fault.message}`.trim();
  return [code === null ? null : plain(code), why].filter(Boolean).join(': ') || 'ok';
}
