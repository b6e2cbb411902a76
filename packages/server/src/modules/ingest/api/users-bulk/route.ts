import { readUser } from '../../../../platform/records/record.ts';
import type { IngestEndpoint } from '../endpoint.ts';
import { readBulk } from '../envelope.ts';

export const usersBulk: IngestEndpoint = {
  name: 'users-bulk',
  path: '/api/v1/users/bulk',
  kind: 'bulk',
  stores: 'users',
  read: (body, options) => readBulk(body, readUser, { ...options, field: 'users' }),
};
