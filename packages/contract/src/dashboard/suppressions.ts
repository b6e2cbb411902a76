import Type, { type Static, type TObject } from 'typebox';
import { REMOVAL_REASONS, SUPPRESSION_REASONS, type SuppressionReasonName } from './choices.ts';
import { type BulkRefusal, FILTER, PAGE, item, list, oneOf, raw, sortOf } from './envelope.ts';
import { BULK_MAX_ROWS } from './list-orders.ts';

export type SuppressionListed = {
  kind: 'email' | 'user';
  /** Null: the address or id of an erased user, which is stored only as a hash. */
  value: string | null;
  /** That hash; null where there is a `value`. */
  hash: string | null;
  /** The user was erased. With a `value`: a user with the same address or id was created since. */
  from_erased: boolean;
  reason: SuppressionReasonName;
  /** Null: it does not end. */
  until: string | null;
  /** False: it has ended. */
  in_force: boolean;
  created_at: string;
  created_by: string;
  /** The name of the member, or of the program. */
  created_by_name: string;
};

export type TopicUnsubscribeListed = {
  kind: 'email' | 'user';
  /** Null: the user was erased. */
  value: string | null;
  hash: string | null;
  topic: string;
  created_at: string;
};

/** Exactly one of the two. */
const RECIPIENT = {
  email: Type.Optional(Type.String({ maxLength: 1_000 })),
  user: Type.Optional(Type.String({ maxLength: 1_000 })),
};
export type SuppressionRecipient = Static<TObject<typeof RECIPIENT>>;

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

/** The result of one send check. `until`: when the check can pass without a change, or null. */
export type SendCheckEntry = {
  check: string;
  passes: boolean;
  text: string;
  until: string | null;
};

export type CanReceiveResult = {
  /** The address or user id that was looked up, normalized. */
  kind: 'email' | 'user';
  value: string;
  /** True if an email could be sent now to one of `users`; null: `users` is empty. */
  can_receive: boolean | null;
  /** The suppression of exactly this address or user, even if no user has it. */
  suppression: SuppressionListed | null;
  /** The topics unsubscribed at exactly this address or user, also by an erased user. */
  unsubscribed_topics: string[];
  /** The last suppression that was lifted here, and by whom. */
  lifted: { reason: SuppressionReasonName; lifted_at: string; lifted_by_name: string } | null;
  /** The users with the address, or the user. */
  users: {
    external_user_id: string;
    address: string | null;
    can_receive: boolean;
    /** In the order in which they are evaluated. */
    checks: SendCheckEntry[];
    /** Emails about these topics are not sent to the user; others are. */
    unsubscribed_topics: string[];
  }[];
  /** More users have the address than are listed. */
  truncated: boolean;
};

const Reason = Type.Optional(oneOf(SUPPRESSION_REASONS));
const List = Type.Object({ list: Type.String(), reason: Reason });

export const SUPPRESSIONS_API = {
  'GET /projects/:project/suppressions': {
    query: Type.Object({ ...PAGE, filter: FILTER, sort: sortOf('suppressions') }),
    response: list<SuppressionListed>(),
  },
  /** The list with its filter. `…/suppressions/export` returns the whole list for another import. */
  'GET /projects/:project/suppressions.csv': {
    query: Type.Object({ filter: FILTER, sort: sortOf('suppressions') }),
    response: raw(),
  },
  'POST /projects/:project/suppressions': {
    body: Type.Object({ ...RECIPIENT, reason: Reason, until: Type.Optional(Type.String({ maxLength: 50 })) }),
    response: item<{ suppression: SuppressionListed; added: boolean; drafts: number; runs: number }>(),
  },
  'POST /projects/:project/suppressions/remove': {
    /**
     * `confirm`: the address or the user, typed again. `reason` is kept in the audit log. `hash`: selects the row of an erased user; it
     * must be the hash of this address or user.
     */
    body: Type.Object({
      ...RECIPIENT,
      hash: Type.Optional(Type.String({ maxLength: 64 })),
      confirm: Type.String(),
      reason: oneOf(REMOVAL_REASONS),
    }),
    response: item<{ kind: 'email' | 'user'; value: string; removed: true }>(),
  },
  'POST /projects/:project/suppressions/remove-many': {
    /** `confirm`: the number of entries. `reason` is kept in the audit log. */
    body: Type.Object({
      entries: Type.Array(
        Type.Object(
          { kind: oneOf(['email', 'user']), value: Type.String({ minLength: 1, maxLength: 1_000 }) },
          { additionalProperties: false },
        ),
        { minItems: 1, maxItems: BULK_MAX_ROWS },
      ),
      confirm: Type.Integer({ minimum: 1 }),
      reason: oneOf(REMOVAL_REASONS),
    }),
    response: item<{ removed: number; refused: BulkRefusal[] }>(),
  },
  'POST /projects/:project/suppressions/preview-import': {
    body: List,
    response: item<SuppressionImport>(),
  },
  'POST /projects/:project/suppressions/import': {
    body: List,
    response: item<SuppressionImport>(),
  },
  /** Default: `csv`. Both formats can be imported again. */
  'GET /projects/:project/suppressions/export': {
    query: Type.Object({ format: Type.Optional(oneOf(['csv', 'ndjson'])) }),
    response: raw(),
  },
  'GET /projects/:project/suppressions/state': {
    response: item<{ imported_at: string | null; imported_by_name: string | null }>(),
  },
  'GET /projects/:project/suppressions/check': {
    query: Type.Object({
      email: Type.Optional(Type.String({ maxLength: 1_000 })),
      user: Type.Optional(Type.String({ maxLength: 1_000 })),
    }),
    response: item<CanReceiveResult>(),
  },
  'GET /projects/:project/suppressions/topics': {
    query: Type.Object({ ...PAGE, filter: FILTER }),
    response: list<TopicUnsubscribeListed>(),
  },
  'GET /projects/:project/suppressions/topics.csv': {
    query: Type.Object({ filter: FILTER }),
    response: raw(),
  },
};
