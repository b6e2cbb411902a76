import type { Many, PageQuery } from './envelope.ts';

/** Requests to one endpoint within a quarter second, by one key, that were answered alike. */
export type IngestRequest = {
  id: string;
  /** Its place in the stream: `GET …/stream/:place` finds it again. */
  place: string;
  at: string;
  endpoint: string;
  status: number;
  code: string | null;
  /** The answer had been given to this Idempotency-Key before. */
  replayed: boolean;
  requests: number;
  accepted: number;
  rejected: number;
  /** Bytes of all their bodies, and how long the slowest took; null where that was not noted. */
  bytes: number | null;
  slowest_ms: number | null;
  key: { id: string; label: string | null } | null;
  /** Of the last one. */
  request_id: string;
  /** What was wrong with which of its records, the first of them; `index` only of bulk requests. */
  faults: { index: number | null; field: string | null; message: string }[];
};

export type IngestWarning = { code: string; day: string; count: number; last_at: string };

export type RequestsApi = {
  /** `filter`: endpoint, status, code, key (its label). The newest first. */
  'GET /projects/:project/requests': {
    query: Omit<PageQuery, 'offset'> & { filter?: string };
    answer: Many<IngestRequest>;
  };
  'GET /projects/:project/warnings': { answer: Many<IngestWarning> };
};
