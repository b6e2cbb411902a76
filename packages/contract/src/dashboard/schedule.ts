import Type from 'typebox';
import { item, list } from './envelope.ts';
import type { SendForecast } from './settings.ts';

/** One hour of the schedule. Hours without sends and deadlines are left out. */
export type ScheduleHour = {
  /** The start of the hour. */
  at: string;
  /** Emails sent in this hour, and how many of them are delayed, by the last send check that delays them. */
  sends: number;
  waited: Record<string, number>;
  /** Drafts whose deadline is in this hour. */
  deadlines: number;
};

/** The quiet hours of one time zone within the schedule. */
export type QuietBand = { zone: string; drafts: number; spans: { from: string; to: string }[] };

export type Schedule = {
  now: string;
  from: string;
  to: string;
  time_zone: string;
  paused: boolean;
  /** Drafts that are sent automatically. `truncated`: there are more than were checked. */
  drafts: number;
  truncated: boolean;
  /** Open drafts that wait for review and are not in the schedule. */
  waits_for_review: number;
  hours: ScheduleHour[];
  /** Drafts that are not sent before `to`. */
  beyond: { sends: number; held: Record<string, number>; expires: number };
  /** The time zones with the most drafts, in that order. */
  quiet: QuietBand[];
  /** The throttle in emails per hour; null: it is off. */
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

export const SCHEDULE_API = {
  'GET /projects/:project/schedule': { response: item<Schedule>() },
  /** Drafts with this `result` (default: `sends`). `from` and `to` limit the send time of drafts that are sent: from ≤ time < to. */
  'GET /projects/:project/schedule/drafts': {
    query: Type.Object({
      from: Type.Optional(Type.String()),
      to: Type.Optional(Type.String()),
      result: Type.Optional(Type.Enum(['sends', 'held', 'expires'])),
      cursor: Type.Optional(Type.String({ pattern: '^\\d{1,6}$' })),
      offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
    }),
    response: list<ScheduledDraft>(),
  },
};
