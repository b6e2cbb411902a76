import type { Many, One, PageQuery, Raw } from './envelope.ts';

/** Proof that somebody was erased: when, and how many rows of what. Who it was is kept nowhere. */
export type Erasure = { id: string; at: string; removed: Record<string, number> };

export type KeptData = {
  /** The retention period of each setting, such as `90d` or `forever`. */
  retention: { setting: string; period: string; oldest_at: string | null }[];
  /** Erasures whose waiting records are dropped as soon as their turn comes. */
  erasures_waiting: number;
};

export type DataApi = {
  'GET /projects/:project/data': { answer: One<KeptData> };
  'GET /projects/:project/erasures': { query: Omit<PageQuery, 'offset'>; answer: Many<Erasure> };
  /** All that the stream shows, as lines of JSON, the oldest first. */
  'GET /projects/:project/stream-export': { query: { filter?: string; since?: string }; answer: Raw };
};
