import type { Many, One } from './envelope.ts';

export type EventProperty = {
  property: string;
  types: string[];
  /** It came as more than one type, `null` aside. */
  conflict: boolean;
  first_at: string;
  last_at: string;
};

/** What is odd about an event that somebody marked as expected. */
export type EventDrift =
  | { kind: 'stopped'; last_at: string; usual_every_ms: number }
  | { kind: 'new_property'; property: string; since: string }
  | { kind: 'new_type'; property: string; type: string; since: string };

export type EventListed = {
  name: string;
  canonical: boolean;
  count: number;
  last_30_days: number;
  first_at: string;
  last_at: string;
  /** One number a day (UTC) for 30 days, today the last. */
  days: number[];
  properties: EventProperty[];
  expected: { since: string; by: string } | null;
  drift: EventDrift[];
  used_by: { kind: 'rule' | 'audience'; id: string; name: string }[];
};

/** Examples are of the newest events; what people sent is in them as it came. */
export type EventShown = EventListed & {
  examples: { property: string; values: unknown[] }[];
  newest: {
    id: string;
    external_user_id: string;
    occurred_at: string;
    properties: Record<string, unknown>;
  }[];
};

export type EventsApi = {
  'GET /projects/:project/events': { answer: Many<EventListed> };
  'GET /projects/:project/events/:event': { answer: One<EventShown> };
  /** What it looks like from now on is what is expected of it; marking again takes what drifted for granted. */
  'PUT /projects/:project/events/:event/expected': { answer: One<EventListed> };
  'DELETE /projects/:project/events/:event/expected': { answer: One<EventListed> };
};
