import Type from 'typebox';
import { FILTER, PAGE, item, list, raw, sortOf } from './envelope.ts';

export type EventProperty = {
  property: string;
  types: string[];
  /** Values of more than one type were received, `null` aside. */
  conflict: boolean;
  first_at: string;
  last_at: string;
};

/** An anomaly of an event that a member marked as expected. */
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
  /** One number per day (UTC) for 30 days, ending today. */
  days: number[];
  properties: EventProperty[];
  expected: { since: string; by: string } | null;
  drift: EventDrift[];
  used_by: { kind: 'rule' | 'audience'; id: string; name: string }[];
};

/** Examples are from the newest events and contain the received values unchanged. */
export type EventDetails = EventListed & {
  examples: { property: string; values: unknown[] }[];
  newest: {
    id: string;
    external_user_id: string;
    occurred_at: string;
    properties: Record<string, unknown>;
  }[];
};

/** The event of a sample user that was accepted. */
export type TestEvent = { external_user_id: string; email: string; event: string };

export const EVENTS_API = {
  /** Without `limit`: all of them. */
  'GET /projects/:project/events': {
    query: Type.Object({ cursor: PAGE.cursor, limit: PAGE.limit, filter: FILTER, sort: sortOf('events') }),
    response: list<EventListed>(),
  },
  'GET /projects/:project/events.csv': {
    query: Type.Object({ filter: FILTER, sort: sortOf('events') }),
    response: raw(),
  },
  'GET /projects/:project/events/:event': { response: item<EventDetails>() },
  /**
   * Sends a sign-up event of a new sample user with the address of the caller, as a customer's server would. Needs a member with an
   * address. At most 20 in 15 minutes.
   */
  'POST /projects/:project/test-event': { response: item<TestEvent>() },
  /** Marks the event as expected in its present form. Marking it again accepts its drift. */
  'PUT /projects/:project/events/:event/expected': { response: item<EventListed>() },
  'DELETE /projects/:project/events/:event/expected': { response: item<EventListed>() },
};
