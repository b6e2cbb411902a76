import { readEvent } from '../../../../platform/records/record.ts';
import type { IngestEndpoint } from '../endpoint.ts';
import { readBulk } from '../envelope.ts';

export const eventsBulk: IngestEndpoint = {
  name: 'events-bulk',
  path: '/api/v1/events/bulk',
  kind: 'bulk',
  stores: 'events',
  read: (body, options) => readBulk(body, readEvent, { ...options, field: 'events' }),
};
