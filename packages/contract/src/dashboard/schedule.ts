import type { Many, One, PageQuery } from './envelope.ts';
import type { SendForecast } from './settings.ts';

/** One hour of the ribbon; hours in which nothing happens are left out. */
export type ScheduleHour = {
  /** Its beginning. */
  at: string;
  /** How many letters leave in it, and how many of these were made to wait, by the gate that did it last. */
  sends: number;
  waited: Record<string, number>;
  /** How many drafts have their deadline in it. */
  deadlines: number;
};

/** The quiet hours of one time zone within the ribbon. */
export type QuietBand = { zone: string; drafts: number; spans: { from: string; to: string }[] };

export type Schedule = {
  now: string;
  from: string;
  to: string;
  time_zone: string;
  paused: boolean;
  /** Drafts that leave by themselves; those beyond the bound were not looked at. */
  drafts: number;
  truncated: boolean;
  /** Open drafts that wait for a person, and are not on the ribbon. */
  waits_for_review: number;
  hours: ScheduleHour[];
  /** What does not leave within the ribbon. */
  beyond: { sends: number; held: Record<string, number>; expires: number };
  /** The zones of most of the drafts, the largest first. */
  quiet: QuietBand[];
  /** How many letters the throttle lets go in an hour; null: it is off. */
  throttle_per_hour: number | null;
  policy: { quiet_hours: string; frequency_cap: string; throttle: string; time_zone: string };
};

export type ScheduledDraft = {
  id: string;
  subject: string;
  rule: string;
  external_user_id: string;
  email: string | null;
  /** The user's time zone. Null: the project's time zone is used. */
  zone: string | null;
  deadline_at: string;
  expires_at: string | null;
  forecast: SendForecast;
};

export type ScheduleApi = {
  'GET /projects/:project/schedule': { answer: One<Schedule> };
  /** Drafts with this `result` (default: `sends`). `from` and `to` limit the send time of drafts that are sent: from ≤ time < to. */
  'GET /projects/:project/schedule/drafts': {
    query: PageQuery & { from?: string; to?: string; result?: 'sends' | 'held' | 'expires' };
    answer: Many<ScheduledDraft>;
  };
};
