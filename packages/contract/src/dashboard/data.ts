import type { ListResponse, ItemResponse, PageQuery, Raw } from './envelope.ts';

/** Proof that a user was erased: the time, and the number of removed rows by kind. The user's identity is not stored. */
export type Erasure = { id: string; at: string; removed: Record<string, number> };

export type KeptData = {
  /** The retention period of each setting, such as `90d` or `forever`. */
  retention: { setting: string; period: string; oldest_at: string | null }[];
  /** Erasures whose queued records are not dropped yet. Each record is dropped when it would be processed. */
  erasures_waiting: number;
};

export type DataApi = {
  'GET /projects/:project/data': { response: ItemResponse<KeptData> };
  'GET /projects/:project/erasures': { query: Omit<PageQuery, 'offset'>; response: ListResponse<Erasure> };
  /** Returns everything that the stream shows, as lines of JSON, oldest first. */
  'GET /projects/:project/stream-export': { query: { filter?: string; since?: string }; response: Raw };
};
