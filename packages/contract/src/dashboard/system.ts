import type { ListResponse, ItemResponse, Raw } from './envelope.ts';

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

/** Why dead-lettered records are discarded. A fixed list, not text: the audit log is kept after a user is erased. */
export const DISCARD_REASONS = ['invalid_data', 'sent_again', 'test_data', 'other'] as const;
export type DiscardReason = (typeof DISCARD_REASONS)[number];

/** Accepted records of a project that wait to be processed, or that are dead-lettered. */
export type ProjectQueue = {
  project: { id: number; name: string };
  live: number;
  bulk: number;
  dead_letters: number;
  /** How long the oldest waiting record has waited; 0 if none waits. */
  oldest_ms: number;
};

export type SystemApi = {
  /** The caller's projects in which a record waits or is dead-lettered: the longest wait first, at most 1,000. */
  'GET /queue': { response: ListResponse<ProjectQueue> };
  'GET /projects/:project/system': { response: ItemResponse<SystemState> };
  /** The oldest 1,000. */
  'GET /projects/:project/dead-letters': { response: ListResponse<DeadLetter> };
  /** Without `seqs`: all. The records are queued again, behind those accepted since. */
  'POST /projects/:project/dead-letters/retry': {
    body: { seqs?: number[] };
    response: ItemResponse<{ retried: number }>;
  };
  'POST /projects/:project/dead-letters/discard': {
    /** `reason` is kept in the audit log. */
    body: { seqs: number[]; reason: DiscardReason };
    response: ItemResponse<{ discarded: number }>;
  };
  /** A JSON file for support: numbers, states and settings, without secrets or data of users. */
  'GET /projects/:project/support-bundle': { response: Raw };
};
