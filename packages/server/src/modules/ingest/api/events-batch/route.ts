import { readEvent } from '../../../../platform/records/record.ts';
import type { IngestEndpoint } from '../endpoint.ts';
import { readBatch } from '../envelope.ts';

export const eventsBatch: IngestEndpoint = {
  name: 'events-batch',
  path: '/api/v1/events/batch',
  kind: 'batch',
  stores: 'events',
  read: (body, options) => readBatch(body, readEvent, options),
};
