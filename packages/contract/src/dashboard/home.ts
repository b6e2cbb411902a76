import { item } from './envelope.ts';
import type { SenderCheck } from './settings.ts';

/** A count up to a limit; `at_least`: there are more. */
export type Counted = { count: number; at_least: boolean };

/** The counts in the navigation. */
export type HomeCounts = {
  /** Drafts that wait for their deadline or for approval. */
  review: Counted;
  /** Held drafts whose cause does not end without an action. */
  held: Counted;
  /** Emails of the last 7 days that failed or whose delivery is unknown, and that were not sent again. */
  failed: Counted;
  /** Dead-lettered records. */
  dead_letters: Counted;
};

/** A matter that needs attention, most urgent first. `id`: its rule or webhook endpoint. */
export type Need =
  | { kind: 'paused' }
  | { kind: 'sender'; reason: string; detail: string }
  | {
      kind: 'due_today';
      /** Undecided drafts whose deadline is today or within an hour. */
      drafts: Counted;
      /** Those within an hour. */
      soon: Counted;
      /** The filter of Review that lists them. */
      filter: string;
      first: {
        draft_id: string;
        deadline_at: string;
        subject: string;
        rule: string;
        external_user_id: string;
      };
    }
  | { kind: 'held'; drafts: Counted; reasons: { reason: string; drafts: number }[] }
  | { kind: 'failed'; failed: number; unknown: number; at_least: boolean; since: string }
  | { kind: 'domain'; name: string; state: string; paused: string | null }
  | {
      kind: 'endpoint';
      id: string;
      url: string;
      problem: 'gone' | 'failing' | 'warned';
      since: string | null;
    }
  /** No bounce of a relay in use has come back yet. */
  /** `id` null: feedback of the provider in `SMTP_URL` was not added. */
  | { kind: 'relay_unproven'; id: string | null; name: string }
  | { kind: 'rule_demoted'; id: string; name: string; why: string }
  | { kind: 'dead_letters'; records: Counted }
  | { kind: 'queue'; waiting: number; waiting_max: number };

export type HomeHealth = {
  /** The records in the ingest queue, and the age of the oldest. */
  queue: { waiting: number; waiting_max: number; oldest_ms: number };
  last_event: { name: string; received_at: string } | null;
  sender: SenderCheck;
  domain: { name: string; state: string; paused: string | null } | null;
};

/** The first open draft of a project that has not sent an email yet. */
export type FirstEmail = {
  draft_id: string;
  subject: string;
  rule: string;
  external_user_id: string;
  state: string;
  /** When the draft is sent without an action; null: it needs an action. */
  sends_at: string | null;
  /** The send check that holds the draft or delays it beyond its deadline. */
  reason: string | null;
  quiet_until: string | null;
  time_zone: string;
};

export type SetupStep = {
  id:
    | 'key_created'
    | 'first_event'
    | 'rule_on'
    | 'first_email'
    | 'domain_verified'
    | 'sender_set'
    | 'suppressions_imported'
    | 'team_invited';
  done: boolean;
  /** The setup list is shown until all required steps are done. */
  required: boolean;
};

export type Home = {
  now: string;
  time_zone: string;
  needs: Need[];
  health: HomeHealth;
  /** Null: all required steps are done. */
  setup: SetupStep[] | null;
  first_email: FirstEmail | null;
};

export const HOME_API = {
  'GET /projects/:project/counts': { response: item<HomeCounts>() },
  'GET /projects/:project/home': { response: item<Home>() },
};
