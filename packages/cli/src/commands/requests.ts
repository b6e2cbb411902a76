import type { IngestRequest } from '@beckon/contract/dashboard';
import { list, type Noun } from '../framework/declare.ts';
import { fields } from '../output/auto.ts';
import { plain } from '../output/words.ts';

export const requests: Noun = {
  name: 'requests',
  help: 'List requests to the public API',
  commands: [
    list('GET /projects/:project/requests', 'list [filter...]', {
      help: 'List requests to the public API, newest first. Equal ones of the same moment are one row.',
      args: { filter: 'Filter terms such as endpoint:events status:422 code:validation_failed key:server' },
      isPaged: true,
      row: [
        ...fields('at endpoint status'),
        ['result', resultOf],
        ...fields('requests accepted rejected'),
        ['key', ({ key }) => key && (key.label ?? key.id)],
        ...fields('slowest=slowest_ms request_ID=request_id'),
      ],
      empty: 'No requests yet. Send an event: beckon track <user> <event>',
    }),
  ],
};

function resultOf({ replayed, code, faults: [fault] }: IngestRequest): string {
  if (replayed) return 'idempotent replay';
  const why = fault && `${fault.field ?? ''} ${fault.message}`.trim();
  return [code === null ? null : plain(code), why].filter(Boolean).join(': ') || 'ok';
}
