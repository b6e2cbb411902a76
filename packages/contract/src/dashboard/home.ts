import type { One } from './envelope.ts';
import type { SenderVerdict } from './settings.ts';

/** Counted up to a bound: where `at_least` is true there are more. */
export type Counted = { count: number; at_least: boolean };

/** For the badges of the navigation. */
export type HomeCounts = {
  /** Drafts that wait for their deadline or for a person. */
  review: Counted;
  /** Drafts that something holds which does not pass by itself. */
  held: Counted;
  /** Letters of the last 7 days of which nobody knows whether they arrived, or that failed, and that were not sent again. */
  failed: Counted;
  /** Accepted records that could not be applied. */
  dead_letters: Counted;
};

/** What a person should look at, the most urgent first. `id` names one of a kind for a list. */
export type Need =
  | { kind: 'paused' }
  | { kind: 'sender'; reason: string; detail: string }
  | {
      kind: 'due_soon';
      drafts: Counted;
      first: {
        draft_id: string;
        deadline_at: string;
        subject: string;
        rule: string;
        external_user_id: string;
      };
    }
  | { kind: 'held'; drafts: Counted; reasons: { reason: string; drafts: number }[] }
  | { kind: 'failed'; failed: number; unknown: number; at_least: boolean }
  | { kind: 'domain'; name: string; state: string; paused: string | null }
  | {
      kind: 'endpoint';
      id: string;
      url: string;
      problem: 'gone' | 'failing' | 'warned';
      since: string | null;
    }
  | { kind: 'rule_demoted'; id: string; name: string; why: string }
  | { kind: 'dead_letters'; records: Counted }
  | { kind: 'queue'; waiting: number; waiting_max: number };

export type HomeHealth = {
  /** Accepted records that wait, and for how long the first of them has waited. */
  queue: { waiting: number; waiting_max: number; oldest_ms: number };
  last_event: { name: string; received_at: string } | null;
  sender: SenderVerdict;
  domain: { name: string; state: string; paused: string | null } | null;
};

/** `first_email`: there is a draft already, while no letter has left yet. */
export type FirstEmail = {
  draft_id: string;
  subject: string;
  rule: string;
  external_user_id: string;
  state: string;
  /** When it leaves if nobody acts; null where a person has to. */
  sends_at: string | null;
  /** The gate that makes it wait beyond its deadline, or that holds it. */
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
  /** The list stays until these are done. */
  required: boolean;
};

export type Home = {
  now: string;
  time_zone: string;
  needs: Need[];
  health: HomeHealth;
  /** Null once all that has to be done is done. */
  setup: SetupStep[] | null;
  first_email: FirstEmail | null;
};

/** One day in UTC. */
export type DayOfDrafts = { day: string; count: number; at_least: boolean };
export type DayOfOutcomes = {
  day: string;
  opened: number;
  clicked: number;
  replied: number;
  bounced: number;
  unsubscribed: number;
  at_least: boolean;
};

export type HomeCharts = {
  events: DayOfDrafts[];
  drafts: DayOfDrafts[];
  sent: DayOfDrafts[];
  outcomes: DayOfOutcomes[];
};

export type HomeApi = {
  'GET /projects/:project/counts': { answer: One<HomeCounts> };
  'GET /projects/:project/home': { answer: One<Home> };
  'GET /projects/:project/home/charts': { answer: One<HomeCharts> };
};
