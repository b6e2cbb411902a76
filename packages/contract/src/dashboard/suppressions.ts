import type { Many, One, PageQuery, Raw } from './envelope.ts';

export type SuppressionReasonName =
  | 'unsubscribed'
  | 'complained'
  | 'manual'
  | 'hard_bounce'
  | 'soft_bounces'
  | 'snoozed';

export type SuppressionListed = {
  kind: 'email' | 'user';
  /** Null: the address or the id of an erased user, which is kept only as a hash. */
  value: string | null;
  /** That hash; null where `value` is known. */
  hash: string | null;
  /** It was made for a user who has been erased. With a `value`: a user with the same address or id has come since. */
  from_erased: boolean;
  reason: SuppressionReasonName;
  /** Null: for good. */
  until: string | null;
  /** False: it has ended by itself. */
  in_force: boolean;
  created_at: string;
  created_by: string;
  /** As people call whoever it was. */
  created_by_name: string;
};

export type TopicRefusalListed = {
  kind: 'email' | 'user';
  /** Null: of an erased user. */
  value: string | null;
  hash: string | null;
  topic: string;
  created_at: string;
};

/** One of the two says who it is. */
export type SuppressionPlace = { email?: string; user?: string };

export type SuppressionImport = {
  rows: number;
  added: number;
  /** Rows that changed nothing: already suppressed for at least as long, or duplicate. */
  already_suppressed: number;
  /** Suppressions that ended before now. */
  already_ended: number;
  drafts: number;
  runs: number;
  rejected: number;
  problems: { line: number; field?: string; message: string }[];
};

/** What one gate says. `until`: when it opens by itself; null: it does not. */
export type GateSaid = {
  check: string;
  passes: boolean;
  text: string;
  until: string | null;
};

export type MailableAnswer = {
  /** What was asked, as it was understood. */
  kind: 'email' | 'user';
  value: string;
  /** Whether a letter would leave at this moment to somebody of these; null: nobody here is known. */
  can_receive: boolean | null;
  /** Who is suppressed at this very place, whether or not somebody here is known by it. */
  suppression: SuppressionListed | null;
  /** The topics refused at this very place, by an erased user too. */
  unsubscribed_topics: string[];
  /** When one was lifted here last, and by whom. */
  lifted: { reason: SuppressionReasonName; lifted_at: string; lifted_by_name: string } | null;
  /** Whoever has the address, or the user. */
  users: {
    external_user_id: string;
    address: string | null;
    can_receive: boolean;
    /** In the order in which they are asked. */
    checks: GateSaid[];
    /** Letters of these topics they do not want; others may leave. */
    unsubscribed_topics: string[];
  }[];
  /** More people share the address than are shown. */
  truncated: boolean;
};

/**
 * Why a suppression is removed. A fixed list, not text: the audit log is kept after a user is erased, so it must not hold what
 * a member wrote about them.
 */
export const REMOVAL_REASONS = ['user_request', 'mistake', 'delivery_fixed', 'other'] as const;
export type RemovalReason = (typeof REMOVAL_REASONS)[number];

export type SuppressionsApi = {
  'GET /projects/:project/suppressions': {
    query: PageQuery & { filter?: string };
    answer: Many<SuppressionListed>;
  };
  'POST /projects/:project/suppressions': {
    body: SuppressionPlace & { reason?: SuppressionReasonName; until?: string };
    answer: One<{ suppression: SuppressionListed; added: boolean; drafts: number; runs: number }>;
  };
  'POST /projects/:project/suppressions/remove': {
    /**
     * `confirm`: the address or the user, typed once more; `reason` is kept in the audit log. `hash`: the row of an erased
     * user that is meant, which has to be the hash of this address or user.
     */
    body: SuppressionPlace & { hash?: string; confirm: string; reason: RemovalReason };
    answer: One<{ kind: 'email' | 'user'; value: string; removed: true }>;
  };
  'POST /projects/:project/suppressions/preview-import': {
    body: { list: string; reason?: SuppressionReasonName };
    answer: One<SuppressionImport>;
  };
  'POST /projects/:project/suppressions/import': {
    body: { list: string; reason?: SuppressionReasonName };
    answer: One<SuppressionImport>;
  };
  /** Default: `csv`. Both formats can be imported again. */
  'GET /projects/:project/suppressions/export': { query: { format?: 'csv' | 'ndjson' }; answer: Raw };
  'GET /projects/:project/suppressions/state': {
    answer: One<{ imported_at: string | null; imported_by_name: string | null }>;
  };
  'GET /projects/:project/suppressions/check': { query: SuppressionPlace; answer: One<MailableAnswer> };
  'GET /projects/:project/suppressions/topics': { query: PageQuery; answer: Many<TopicRefusalListed> };
};
