import type { Many, One } from './envelope.ts';

export type ApiKey = {
  id: string;
  /** `test` opens the sandbox of its project, and nothing else. */
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
  /** Requests a day (UTC), the last fourteen days, the oldest first. */
  traffic: { day: string; requests: number }[];
};

export type KeysApi = {
  /** Those of its sandbox too. */
  'GET /projects/:project/keys': { answer: Many<ApiKey> };
  /** `secret` is told here, and never again. `test` wants the setting `sandbox=on`; in a sandbox it is what is meant. */
  'POST /projects/:project/keys': {
    body: { label: string; env?: 'live' | 'test' };
    answer: One<ApiKey & { secret: string }>;
  };
  /** For good. `label` has to be its label. */
  'POST /projects/:project/keys/:key/revoke': { body: { label: string }; answer: One<ApiKey> };
};
