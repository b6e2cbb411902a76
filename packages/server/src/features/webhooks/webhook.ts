import { Fault } from '../../base/fault.ts';

/** Something to tell, once; `body` is what every endpoint gets, byte for byte, however often. */
export type NewWebhookMessage = {
  projectId: number;
  id: string;
  /** Null for a test. */
  outcomeId: string | null;
  type: string;
  userId: string | null;
  body: string;
  /** Milliseconds. */
  createdAt: number;
};

export type DeliveryState = 'pending' | 'delivering' | 'delivered' | 'exhausted' | 'missed' | 'canceled';
/** By the schedule, or because a person asked. */
export type Trigger = 'auto' | 'manual';

/** Which delivery: a message is delivered to each endpoint by itself. */
export type DeliveryPlace = EndpointPlace & { messageId: string };
export type EndpointPlace = { projectId: number; endpointId: string };

/** Of an endpoint, so many at most. What a claim takes is for whoever holds the lock on the endpoint's health. */
export type Room = { projectId: number; endpointId: string; most: number };
export type Claimed = DeliveryPlace & {
  /** Of the attempt, over all schedules; `tries` are those of this one. */
  number: number;
  tries: number;
  url: string;
  body: string;
};
export type DeliveryResult = DeliveryPlace & {
  number: number;
  endedAt: number;
  status: number | null;
  error: string | null;
  answer: string | null;
  state: DeliveryState;
  nextAt: number | null;
};

export type Replay = {
  projectId: number;
  /** Null: of all that are enabled. */
  endpointId: string | null;
  messageId: string | null;
  /** When it happened: from then on, and before that. */
  since: number;
  before: number;
  states: DeliveryState[];
  /** Behind this message; null from the beginning. */
  after: { createdAt: number; id: string } | null;
  now: number;
};
/** `last`: the message to go on behind; null where there are no more. */
export type ReplayStep = { replayed: number; last: Replay['after'] };

/** `tries`: the last one of the schedule, since nobody waits for a test for days. */
export type Test = Claimed & { now: number; leaseUntil: number };

/** Of one endpoint, between two moments; so many at most. */
export type History = EndpointPlace & { since: number; before: number; now: number; limit: number };

/** Where a message stands among those of its project. */
export type MessagePlace = { createdAt: number; id: string };
export type FollowedMessage = MessagePlace & { type: string; body: string };

/** The type of a test event, which no outcome has; every endpoint takes it. */
export const TEST_TYPE = 'test';

/** As the body and its headers name a message. */
export function messageName(id: string): string {
  return `msg_${id}`;
}

const NAME = /^(?:msg_)?([\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12})$/;

export function readMessageName(text: string): string {
  const id = NAME.exec(text)?.[1];
  if (id !== undefined) return id;
  const message = `${JSON.stringify(text)} is not a message ID. List them with: beckon webhooks deliveries`;
  throw new Fault('validation_failed', { details: [{ message, field: 'message' }] });
}
