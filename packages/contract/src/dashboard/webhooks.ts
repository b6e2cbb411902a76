import Type, { type Static } from 'typebox';
import { REPLAYABLE_STATES } from './choices.ts';
import { FILTER, PAGE, item, list, oneOf, raw, sortOf } from './envelope.ts';
import { DELIVERY_STATES } from './lists.ts';

export type WebhookEndpoint = {
  id: string;
  url: string;
  /** Null: all types, including future ones. */
  types: string[] | null;
  description: string;
  state: 'enabled' | 'disabled';
  disabled_at: string | null;
  disabled_reason: 'manual' | 'gone' | 'failing' | 'deleted' | null;
  per_second: number;
  in_flight_max: number;
  failing_since: string | null;
  failures: number;
  /** No attempts are made until this time, because almost all attempts fail. Null: attempts are made as usual. */
  backoff_until: string | null;
  last_success_at: string | null;
  secrets: { created_at: string; expires_at: string | null }[];
  created_at: string;
};

export type WebhookDeliveryState = (typeof DELIVERY_STATES)[number];
const DeliveryStateSchema = oneOf<WebhookDeliveryState>(DELIVERY_STATES);

export type WebhookAttempt = {
  number: number;
  trigger: 'auto' | 'manual';
  at: string;
  ended_at: string | null;
  url: string;
  status: number | null;
  error: string | null;
  /** The beginning of the response body. */
  response: string | null;
};

export type WebhookDelivery = {
  /** The ID of the webhook message, as in its body. */
  id: string;
  endpoint_id: string;
  type: string;
  state: WebhookDeliveryState;
  /** True if the user was erased, and with the user the body. */
  erased: boolean;
  created_at: string;
  next_attempt_at: string | null;
  delivered_at: string | null;
  attempts: WebhookAttempt[];
};

const FIELDS = {
  types: Type.Optional(Type.Union([Type.Array(Type.String(), { maxItems: 100 }), Type.Null()])),
  description: Type.Optional(Type.String()),
  per_second: Type.Optional(Type.Number()),
  in_flight_max: Type.Optional(Type.Number()),
};
const EndpointChanges = Type.Object({ url: Type.Optional(Type.String()), ...FIELDS });
export type WebhookEndpointInput = Static<typeof EndpointChanges>;

const Id = Type.String({ maxLength: 100 });

export const WEBHOOKS_API = {
  /** Without `limit`: all of them. */
  'GET /projects/:project/webhooks': {
    query: Type.Object({ cursor: PAGE.cursor, limit: PAGE.limit, filter: FILTER }),
    response: list<WebhookEndpoint>(),
  },
  'GET /projects/:project/webhooks.csv': { query: Type.Object({ filter: FILTER }), response: raw() },
  /** `secret` is returned only here. */
  'POST /projects/:project/webhooks': {
    body: Type.Object({ url: Type.String(), ...FIELDS }),
    response: item<WebhookEndpoint & { secret: string }>(),
  },
  'GET /projects/:project/webhooks/:endpoint': { response: item<WebhookEndpoint>() },
  'PATCH /projects/:project/webhooks/:endpoint': {
    body: EndpointChanges,
    response: item<WebhookEndpoint>(),
  },
  /** `url` must be the URL of the endpoint. Its pending deliveries are canceled. */
  'DELETE /projects/:project/webhooks/:endpoint': {
    body: Type.Object({ url: Type.String() }),
    response: item<{ canceled: number }>(),
  },
  'POST /projects/:project/webhooks/:endpoint/enable': { response: item<WebhookEndpoint>() },
  'POST /projects/:project/webhooks/:endpoint/disable': {
    response: item<WebhookEndpoint & { missed: number }>(),
  },
  /** Both secrets sign during `overlap_hours`; 0 ends the old secret now. */
  'POST /projects/:project/webhooks/:endpoint/rotate': {
    body: Type.Object({
      overlap_hours: Type.Optional(Type.Number({ minimum: 0, maximum: 7 * 24 })),
    }),
    response: item<WebhookEndpoint & { secret: string }>(),
  },
  'POST /projects/:project/webhooks/:endpoint/test': { response: item<WebhookDelivery>() },
  'GET /projects/:project/webhook-deliveries': {
    /** `message`: the ID of a webhook message; returns its delivery to each endpoint. */
    query: Type.Object({
      cursor: PAGE.cursor,
      limit: PAGE.limit,
      endpoint: Type.Optional(Id),
      message: Type.Optional(Id),
      state: Type.Optional(DeliveryStateSchema),
      filter: FILTER,
      sort: sortOf('deliveries'),
    }),
    response: list<WebhookDelivery>(),
  },
  'GET /projects/:project/webhook-deliveries.csv': {
    query: Type.Object({ endpoint: Type.Optional(Id), filter: FILTER, sort: sortOf('deliveries') }),
    response: raw(),
  },
  /** One delivery with its request body; null: the body was erased. */
  'GET /projects/:project/webhook-deliveries/:message/:endpoint': {
    response: item<WebhookDelivery & { body: string | null }>(),
  },
  /** Replays webhook messages with the same IDs and bodies to the current URLs. Requires one of `message`, `since` and `missed`. */
  'POST /projects/:project/webhook-replays': {
    body: Type.Object({
      endpoint: Type.Optional(Id),
      message: Type.Optional(Id),
      since: Type.Optional(Type.String()),
      until: Type.Optional(Type.String()),
      missed: Type.Optional(Type.Literal(true)),
      /** Only deliveries in these states. Default: `exhausted` and `missed`. */
      states: Type.Optional(Type.Array(oneOf(REPLAYABLE_STATES), { minItems: 1, maxItems: 3 })),
      /** Also replays messages from before the endpoint was created. Requires `endpoint`. */
      history: Type.Optional(Type.Boolean()),
    }),
    response: item<{ replayed: number }>(),
  },
};
