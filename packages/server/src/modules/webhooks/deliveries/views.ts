import type { WebhookDelivery, WebhookEndpoint } from '@beckon/contract/dashboard';
import { iso, isoOrNull } from '../../../platform/time/clock.ts';
import type { EndpointRef } from '../endpoints/endpoint.ts';
import { type EndpointState, listEndpoints, listLiveSecrets } from '../endpoints/reads.ts';
import { requireEndpoint } from '../endpoints/require-endpoint.ts';
import type { EncryptedSecret } from '../endpoints/store.ts';
import { webhookName } from './webhook.ts';
import type { DeliverySummary } from './reads.ts';
import type { Database } from '../../../platform/db/database.ts';

type Db = Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>;

/** Returns the endpoints of a project and their health, for the API and the dashboard. */
export async function showEndpoints(db: Db, projectId: number): Promise<WebhookEndpoint[]> {
  const states = await listEndpoints(db, projectId);
  const keys = states.map(({ endpoint }) => ({ projectId, endpointId: endpoint.id }));
  const now = db.clock.now();
  const secrets = Map.groupBy(await listLiveSecrets(db, { keys, now }), ({ endpointId }) => endpointId);
  return states.map((state) => endpointView(state, secrets.get(state.endpoint.id) ?? [], now));
}

export async function showEndpoint(db: Db, key: EndpointRef): Promise<WebhookEndpoint> {
  const state = await db.transaction((tx) => requireEndpoint(tx, key));
  const now = db.clock.now();
  return endpointView(state, await listLiveSecrets(db, { keys: [key], now }), now);
}

function endpointView(
  { endpoint, health }: EndpointState,
  secrets: EncryptedSecret[],
  now: number,
): WebhookEndpoint {
  return {
    id: endpoint.id,
    url: endpoint.url,
    types: endpoint.types,
    description: endpoint.description,
    state: endpoint.disabledAt === null ? 'enabled' : 'disabled',
    disabled_at: isoOrNull(endpoint.disabledAt),
    disabled_reason: endpoint.disabledReason,
    per_second: endpoint.perSecond,
    in_flight_max: endpoint.inFlightMax,
    failing_since: isoOrNull(health.failingSince),
    failures: health.failures,
    /** The endpoint fails so often that it is only tried occasionally. */
    backoff_until: health.openUntil === null ? null : iso(Math.max(health.openUntil, now)),
    last_success_at: isoOrNull(health.succeededAt),
    secrets: secrets.map(({ createdAt, expiresAt }) => ({
      created_at: iso(createdAt),
      expires_at: isoOrNull(expiresAt),
    })),
    created_at: iso(endpoint.createdAt),
  };
}

export function deliveryView(delivery: DeliverySummary): WebhookDelivery {
  return {
    id: webhookName(delivery.webhookId),
    endpoint_id: delivery.endpointId,
    type: delivery.type,
    state: delivery.state,
    erased: delivery.isErased,
    created_at: iso(delivery.createdAt),
    next_attempt_at: isoOrNull(delivery.nextAt),
    delivered_at: isoOrNull(delivery.deliveredAt),
    attempts: delivery.attempts.map((attempt) => ({
      number: attempt.number,
      trigger: attempt.trigger,
      at: iso(attempt.startedAt),
      ended_at: isoOrNull(attempt.endedAt),
      url: attempt.url,
      status: attempt.status,
      error: attempt.error,
      response: attempt.response,
    })),
  };
}
