import type { ListResponse, ItemResponse, PageQuery } from './envelope.ts';

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

export type WebhookDeliveryState =
  | 'pending'
  | 'delivering'
  | 'delivered'
  | 'exhausted'
  | 'missed'
  | 'canceled';

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

export type WebhookEndpointInput = {
  url?: string;
  types?: string[] | null;
  description?: string;
  per_second?: number;
  in_flight_max?: number;
};

export type WebhooksApi = {
  'GET /projects/:project/webhooks': { response: ListResponse<WebhookEndpoint> };
  /** `secret` is returned only here. */
  'POST /projects/:project/webhooks': {
    body: WebhookEndpointInput & { url: string };
    response: ItemResponse<WebhookEndpoint & { secret: string }>;
  };
  'GET /projects/:project/webhooks/:endpoint': { response: ItemResponse<WebhookEndpoint> };
  'PATCH /projects/:project/webhooks/:endpoint': {
    body: WebhookEndpointInput;
    response: ItemResponse<WebhookEndpoint>;
  };
  /** `url` must be the URL of the endpoint. Its pending deliveries are canceled. */
  'DELETE /projects/:project/webhooks/:endpoint': {
    body: { url: string };
    response: ItemResponse<{ canceled: number }>;
  };
  'POST /projects/:project/webhooks/:endpoint/enable': { response: ItemResponse<WebhookEndpoint> };
  'POST /projects/:project/webhooks/:endpoint/disable': {
    response: ItemResponse<WebhookEndpoint & { missed: number }>;
  };
  /** Both secrets sign during `overlap_hours`; 0 ends the old secret now. */
  'POST /projects/:project/webhooks/:endpoint/rotate': {
    body: { overlap_hours?: number };
    response: ItemResponse<WebhookEndpoint & { secret: string }>;
  };
  'POST /projects/:project/webhooks/:endpoint/test': { response: ItemResponse<WebhookDelivery> };
  'GET /projects/:project/webhook-deliveries': {
    /** `message`: the ID of a webhook message; returns its delivery to each endpoint. */
    query: Omit<PageQuery, 'offset'> & { endpoint?: string; message?: string; state?: WebhookDeliveryState };
    response: ListResponse<WebhookDelivery>;
  };
  /** One delivery with its request body; null: the body was erased. */
  'GET /projects/:project/webhook-deliveries/:message/:endpoint': {
    response: ItemResponse<WebhookDelivery & { body: string | null }>;
  };
  /** Replays webhook messages with the same IDs and bodies to the current URLs. Requires one of `message`, `since` and `missed`. */
  'POST /projects/:project/webhook-replays': {
    body: {
      endpoint?: string;
      message?: string;
      since?: string;
      until?: string;
      missed?: true;
      /** Only deliveries in these states. Default: `exhausted` and `missed`. */
      states?: ('exhausted' | 'missed' | 'delivered')[];
      /** Also replays messages from before the endpoint was created. Requires `endpoint`. */
      history?: boolean;
    };
    response: ItemResponse<{ replayed: number }>;
  };
};
