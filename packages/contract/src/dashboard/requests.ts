import Type from 'typebox';
import { FILTER, list, raw, sortOf } from './envelope.ts';

/** Requests of one key to one endpoint within a quarter of a second that got the same response. */
export type IngestRequest = {
  id: string;
  /** The position in the stream, for `GET …/stream/:place`. */
  place: string;
  at: string;
  endpoint: string;
  status: number;
  code: string | null;
  /** The response was replayed for a known Idempotency-Key. */
  replayed: boolean;
  requests: number;
  accepted: number;
  rejected: number;
  /** The size of all bodies, and the duration of the slowest request; null if not recorded. */
  bytes: number | null;
  slowest_ms: number | null;
  key: { id: string; label: string | null } | null;
  /** The id of the last request. */
  request_id: string;
  /** The first faults of its records; only bulk requests have an `index`. */
  faults: { index: number | null; field: string | null; message: string }[];
};

export type IngestWarning = { code: string; day: string; count: number; last_at: string };

export const REQUESTS_API = {
  /** Newest first. */
  'GET /projects/:project/requests': {
    query: Type.Object({
      filter: FILTER,
      sort: sortOf('requests'),
      cursor: Type.Optional(Type.String({ maxLength: 200 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
    }),
    response: list<IngestRequest>(),
  },
  'GET /projects/:project/requests.csv': {
    query: Type.Object({ filter: FILTER, sort: sortOf('requests') }),
    response: raw(),
  },
  'GET /projects/:project/warnings': { response: list<IngestWarning>() },
};
