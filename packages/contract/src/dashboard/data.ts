import Type from 'typebox';
import { item, list, raw } from './envelope.ts';

/** Proof that a user was erased: the time, and the number of removed rows by kind. The user's identity is not stored. */
export type Erasure = { id: string; at: string; removed: Record<string, number> };

export type KeptData = {
  /** The retention period of each setting, such as `90d` or `forever`. */
  retention: { setting: string; period: string; oldest_at: string | null }[];
  /** Erasures whose queued records are not dropped yet. Each record is dropped when it would be processed. */
  erasures_waiting: number;
};

export const DATA_API = {
  'GET /projects/:project/data': { response: item<KeptData>() },
  'GET /projects/:project/erasures': {
    query: Type.Object({
      cursor: Type.Optional(Type.String({ maxLength: 200 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
    }),
    response: list<Erasure>(),
  },
  /** Returns everything that the stream shows, as lines of JSON, oldest first. */
  'GET /projects/:project/stream-export': {
    query: Type.Object({
      filter: Type.Optional(Type.String({ maxLength: 1_000 })),
      since: Type.Optional(Type.String({ maxLength: 100 })),
    }),
    response: raw(),
  },
};
