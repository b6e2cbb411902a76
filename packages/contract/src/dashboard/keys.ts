import Type from 'typebox';
import { FILTER, PAGE, item, list, oneOf, raw } from './envelope.ts';

export type ApiKey = {
  id: string;
  /** A `test` key only works for the sandbox of its project. */
  env: 'live' | 'test';
  label: string;
  /** The first eight characters and the last four. */
  display: string;
  created_at: string;
  /** Null: created on the command line. */
  created_by: string | null;
  last_used_at: string | null;
  client: { name: string; version: string } | null;
  /** The minimum version that the operator requires of this client; null unless the client is older. */
  minimum_version: string | null;
  revoked_at: string | null;
  /** Requests per day (UTC) in the last fourteen days, oldest first. */
  traffic: { day: string; requests: number }[];
};

export const KEYS_API = {
  /** Includes the keys of the project's sandbox. Without `limit`: all of them. */
  'GET /projects/:project/keys': {
    query: Type.Object({ cursor: PAGE.cursor, limit: PAGE.limit, filter: FILTER }),
    response: list<ApiKey>(),
  },
  'GET /projects/:project/keys.csv': { query: Type.Object({ filter: FILTER }), response: raw() },
  /** `secret` is returned only once. `test` requires the setting `sandbox=on`; in a sandbox it is the default. */
  'POST /projects/:project/keys': {
    body: Type.Object({
      label: Type.String(),
      env: Type.Optional(oneOf(['live', 'test'])),
    }),
    response: item<ApiKey & { secret: string }>(),
  },
  /** Revokes the key permanently. `label` must be its label. */
  'POST /projects/:project/keys/:key/revoke': {
    body: Type.Object({ label: Type.String() }),
    response: item<ApiKey>(),
  },
};
