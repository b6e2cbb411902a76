import Type from 'typebox';
import { DISCARD_REASONS } from './choices.ts';
import { FILTER, PAGE, item, list, oneOf, raw } from './envelope.ts';

export type SystemStorage = {
  database_bytes: number;
  /** The largest tables, with their indexes and partitions. `rows` is the estimate of PostgreSQL. */
  tables: { name: string; bytes: number; rows: number }[];
};

export type SystemState = {
  at: string;
  version: string;
  node: string;
  postgres: string;
  schema: string;
  /** The clock of this machine relative to the database's; null: not measured yet. */
  clock_offset_ms: number | null;
  /** False: the database was restored or is a copy, and this was not confirmed on the server. */
  sending_enabled: boolean;
  /** For the whole installation, including other organizations. Null unless the caller is a signed-in admin. */
  storage: SystemStorage | null;
  queue: { live: number; bulk: number; dead_letters: number; oldest_ms: number; max: number };
  /** The scheduled jobs of this project: the next time, and how late it is. */
  jobs: { name: string; next_at: string | null; late_ms: number }[];
  webhooks: { pending: number; delivering: number };
};

export type DeadLetter = {
  seq: number;
  priority: 'live' | 'bulk';
  kind: 'users' | 'events';
  reason: string;
  accepted_at: string;
  dead_lettered_at: string;
  record: unknown;
};

/** Accepted records of a project that wait to be processed, or that are dead-lettered. */
export type ProjectQueue = {
  project: { id: number; name: string };
  live: number;
  bulk: number;
  dead_letters: number;
  /** How long the oldest waiting record has waited; 0 if none waits. */
  oldest_ms: number;
};

/** A larger number differs from its text, and at some size the database cannot store it. */
const Seq = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const Seqs = Type.Array(Seq, { minItems: 1, maxItems: 1_000 });

export const SYSTEM_API = {
  /** The caller's projects in which a record waits or is dead-lettered: the longest wait first, at most 1,000. */
  'GET /queue': { response: list<ProjectQueue>() },
  'GET /projects/:project/system': { response: item<SystemState>() },
  /** Of the oldest 1,000. Without `limit`: all of these. */
  'GET /projects/:project/dead-letters': {
    query: Type.Object({ cursor: PAGE.cursor, limit: PAGE.limit, filter: FILTER }),
    response: list<DeadLetter>(),
  },
  'GET /projects/:project/dead-letters.csv': { query: Type.Object({ filter: FILTER }), response: raw() },
  /** Without `seqs`: all. The records are queued again, behind those accepted since. */
  'POST /projects/:project/dead-letters/retry': {
    body: Type.Object({ seqs: Type.Optional(Seqs) }),
    response: item<{ retried: number }>(),
  },
  'POST /projects/:project/dead-letters/discard': {
    /** `reason` is kept in the audit log. */
    body: Type.Object({ seqs: Seqs, reason: oneOf(DISCARD_REASONS) }),
    response: item<{ discarded: number }>(),
  },
  /** A JSON file for support: numbers, states and settings, without secrets or data of users. */
  'GET /projects/:project/support-bundle': { response: raw() },
};
