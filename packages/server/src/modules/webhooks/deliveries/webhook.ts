import type { WebhookDeliveryState } from '@beckon/contract/dashboard';
import type { EndpointRef } from '../endpoints/endpoint.ts';
import { Fault } from '../../../platform/fault.ts';

/** A webhook event. Every endpoint gets `body` byte for byte at every attempt. */
export type NewWebhook = {
  projectId: number;
  id: string;
  /** Null for a test. */
  outcomeId: string | null;
  type: string;
  userId: string | null;
  body: string;
  /** In milliseconds. */
  createdAt: number;
};

export type DeliveryState = WebhookDeliveryState;
/** Started by the schedule, or by a person. */
export type AttemptTrigger = 'auto' | 'manual';

/** Identifies a delivery: a webhook event is delivered to each endpoint separately. */
export type DeliveryKey = EndpointRef & { webhookId: string };

/** How many deliveries may be claimed for an endpoint. The caller holds the lock on the endpoint's health. */
export type EndpointCapacity = { projectId: number; endpointId: string; most: number };
export type ClaimedDelivery = DeliveryKey & {
  /** The number of the attempt over all schedules. `tries` counts those of the current one. */
  number: number;
  tries: number;
  url: string;
  body: string;
};
export type DeliveryResult = DeliveryKey & {
  number: number;
  endedAt: number;
  status: number | null;
  error: string | null;
  response: string | null;
  state: DeliveryState;
  nextAt: number | null;
};

export type Replay = {
  projectId: number;
  /** Null: all enabled endpoints. */
  endpointId: string | null;
  webhookId: string | null;
  /** The time of the event: from `since`, and before `before`. */
  since: number;
  before: number;
  states: DeliveryState[];
  /** Continues after this event. Null: from the beginning. */
  after: { createdAt: number; id: string } | null;
  now: number;
};
/** `last`: the event after which to continue. Null: there are no more. */
export type ReplayStep = { replayed: number; last: Replay['after'] };

/** `tries`: the last one of the schedule, because a test is not retried for days. */
export type Test = ClaimedDelivery & { now: number; leaseUntil: number };

/** Events for one endpoint between two times, up to `limit`. */
export type History = EndpointRef & { since: number; before: number; now: number; limit: number };

/** The position of a webhook event among those of its project. */
export type MessageCursor = { createdAt: number; id: string };
export type FollowedWebhook = MessageCursor & { type: string; body: string };

/** The type of a test event. No outcome has it, and every endpoint accepts it. */
export const TEST_TYPE = 'test';

/** Returns the id of a webhook event as used in its body and headers. */
export function webhookName(id: string): string {
  return `msg_${id}`;
}

const NAME = /^(?:msg_)?([\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12})$/;

export function readWebhookName(text: string): string {
  const id = NAME.exec(text)?.[1];
  if (id !== undefined) return id;
  const message = `${JSON.stringify(text)} is not a webhook ID. List them with: beckon webhooks deliveries`;
  throw new Fault('validation_failed', { details: [{ message, field: 'message' }] });
}
