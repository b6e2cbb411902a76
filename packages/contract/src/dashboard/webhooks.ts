import type { Many, One, PageQuery } from './envelope.ts';

export type WebhookEndpoint = {
  id: string;
  url: string;
  /** Null: all that there are, and those that will be. */
  types: string[] | null;
  description: string;
  state: 'enabled' | 'disabled';
  disabled_at: string | null;
  disabled_reason: 'manual' | 'gone' | 'failing' | 'deleted' | null;
  per_second: number;
  in_flight_max: number;
  failing_since: string | null;
  failures: number;
  /** It fails so often that it is asked again only now and then. */
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
  /** The beginning of what was answered. */
  response: string | null;
};

export type WebhookDelivery = {
  /** Of the message, as its body has it. */
  id: string;
  endpoint_id: string;
  type: string;
  state: WebhookDeliveryState;
  /** The person whom it was about is erased, and its body with them. */
  erased: boolean;
  created_at: string;
  next_attempt_at: string | null;
  delivered_at: string | null;
  attempts: WebhookAttempt[];
};

export type WebhookEndpointWanted = {
  url?: string;
  types?: string[] | null;
  description?: string;
  per_second?: number;
  in_flight_max?: number;
};

export type WebhooksApi = {
  'GET /projects/:project/webhooks': { answer: Many<WebhookEndpoint> };
  /** `secret` is told here, and never again. */
  'POST /projects/:project/webhooks': {
    body: WebhookEndpointWanted & { url: string };
    answer: One<WebhookEndpoint & { secret: string }>;
  };
  'GET /projects/:project/webhooks/:endpoint': { answer: One<WebhookEndpoint> };
  'PATCH /projects/:project/webhooks/:endpoint': {
    body: WebhookEndpointWanted;
    answer: One<WebhookEndpoint>;
  };
  /** `url` has to be its own. What waits for it is canceled. */
  'DELETE /projects/:project/webhooks/:endpoint': {
    body: { url: string };
    answer: One<{ canceled: number }>;
  };
  'POST /projects/:project/webhooks/:endpoint/enable': { answer: One<WebhookEndpoint> };
  'POST /projects/:project/webhooks/:endpoint/disable': { answer: One<WebhookEndpoint & { missed: number }> };
  /** The old secret signs beside the new one for the overlap; 0 ends it now. */
  'POST /projects/:project/webhooks/:endpoint/rotate': {
    body: { overlap_hours?: number };
    answer: One<WebhookEndpoint & { secret: string }>;
  };
  'POST /projects/:project/webhooks/:endpoint/test': { answer: One<WebhookDelivery> };
  'GET /projects/:project/webhook-deliveries': {
    /** `message`: the id of a webhook message, to every endpoint. */
    query: Omit<PageQuery, 'offset'> & { endpoint?: string; message?: string; state?: WebhookDeliveryState };
    answer: Many<WebhookDelivery>;
  };
  /** One, with the body that is posted each time: null where it is erased. */
  'GET /projects/:project/webhook-deliveries/:message/:endpoint': {
    answer: One<WebhookDelivery & { body: string | null }>;
  };
  /** One of `message`, `since` and `missed` says what is sent again: the same ids and bodies, to where the endpoints are now. */
  'POST /projects/:project/webhook-replays': {
    body: {
      endpoint?: string;
      message?: string;
      since?: string;
      until?: string;
      missed?: true;
      /** Those that are so; exhausted and missed where it is not said. */
      states?: ('exhausted' | 'missed' | 'delivered')[];
      /** Also what this endpoint was never to get, because it was made later. */
      history?: boolean;
    };
    answer: One<{ replayed: number }>;
  };
};
