import { readUser } from '../../../../platform/records/record.ts';
import type { IngestEndpoint } from '../endpoint.ts';
import { readSingle } from '../envelope.ts';

export const users: IngestEndpoint = {
  name: 'users',
  path: '/api/v1/users',
  kind: 'single',
  stores: 'users',
  read: (body, options) => readSingle(body, readUser, options),
};
