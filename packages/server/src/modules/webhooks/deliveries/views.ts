import { iso, isoOrNull } from '../../../platform/time/clock.ts';
import type { EndpointRef } from '../endpoints/endpoint.ts';
import { type EndpointState, listEndpoints, listLiveSecrets } from '../endpoints/reads.ts';
import { requireEndpoint } from '../endpoints/require-endpoint.ts';
import type { SealedSecret } from '../endpoints/store.ts';
import { messageName } from './webhook.ts';
import type { ShownDelivery } from './reads.ts';
import type { Database } from '../../../platform/db/database.ts';

type Db = Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>;

/** Returns the endpoints of a project and their health, for the API and the dashboard. */
export async function showEndpoints(db: Db, projectId: number): Promise<ShownEndpoint[]> {
  const states = await listEndpoints(db, projectId);
  const places = states.map(({ endpoint }) => ({ projectId, endpointId: endpoint.id }));
  const now = db.clock.now();
  const secrets = Map.groupBy(await listLiveSecrets(db, { places, now }), ({ endpointId }) => endpointId);
  return states.map((state) => toEndpoint(state, secrets.get(state.endpoint.id) ?? [], now));
}

export async function showEndpoint(db: Db, place: EndpointRef): Promise<ShownEndpoint> {
  const state = await db.transaction((tx) => requireEndpoint(tx, place));
  const now = db.clock.now();
  return toEndpoint(state, await listLiveSecrets(db, { places: [place], now }), now);
}

function toEndpoint({ endpoint, health }: EndpointState, secrets: SealedSecret[], now: number) {
  return {
    id: endpoint.id,
    url: endpoint.url,
    types: endpoint.types,
    description: endpoint.description,
    state: endpoint.disabledAt === null ? ('enabled' as const) : ('disabled' as const),
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

export type ShownEndpoint = ReturnType<typeof toEndpoint>;

export function toDelivery(delivery: ShownDelivery) {
  return {
    id: messageName(delivery.messageId),
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
      response: attempt.answer,
    })),
  };
}

export type ListedDelivery = ReturnType<typeof toDelivery>;
