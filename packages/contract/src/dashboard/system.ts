import type { Many, One, Raw } from './envelope.ts';

export type SystemStorage = {
  database_bytes: number;
  /** The largest, with their indexes and partitions; rows as PostgreSQL estimates them. */
  tables: { name: string; bytes: number; rows: number }[];
};

export type SystemState = {
  at: string;
  version: string;
  node: string;
  postgres: string;
  schema: string;
  /** This machine's clock against the database's; null: not measured yet. */
  clock_offset_ms: number | null;
  /** False: the database was restored, or is a copy, and nobody has confirmed it on its machine. */
  sending_enabled: boolean;
  /** Of the whole installation, other organizations included: null unless the caller is an admin who is signed in. */
  storage: SystemStorage | null;
  queue: { live: number; bulk: number; dead_letters: number; oldest_ms: number; max: number };
  /** What is due of this project again and again: when next, and how late that is. */
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
  'GET /queue': { answer: Many<ProjectQueue> };
  'GET /projects/:project/system': { answer: One<SystemState> };
  /** The oldest 1,000. */
  'GET /projects/:project/dead-letters': { answer: Many<DeadLetter> };
  /** Without `seqs`: all. They wait again, behind what was accepted since. */
  'POST /projects/:project/dead-letters/retry': {
    body: { seqs?: number[] };
    answer: One<{ retried: number }>;
  };
  'POST /projects/:project/dead-letters/discard': {
    /** `reason` is kept in the audit log. */
    body: { seqs: number[]; reason: DiscardReason };
    answer: One<{ discarded: number }>;
  };
  /** JSON to send to whoever helps: numbers, states and settings, no secret and nobody's data. */
  'GET /projects/:project/support-bundle': { answer: Raw };
};
