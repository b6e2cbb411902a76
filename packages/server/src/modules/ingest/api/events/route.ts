import { readEvent } from '../../../../platform/records/record.ts';
import type { IngestEndpoint } from '../endpoint.ts';
import { readSingle } from '../envelope.ts';

export const events: IngestEndpoint = {
  name: 'events',
  path: '/api/v1/events',
  kind: 'single',
  stores: 'events',
  read: (body, options) => readSingle(body, readEvent, options),
};
