import { type DeliveryState, messageName, type ShownDelivery } from '../features/webhooks/index.ts';
import type { EndpointState, SealedSecret } from '../features/endpoints/index.ts';
import { iso } from '../base/clock.ts';
import { table } from './table.ts';

export function toEndpoint({ endpoint, health }: EndpointState, secrets: SealedSecret[], now: number) {
  return {
    id: endpoint.id,
    url: endpoint.url,
    types: endpoint.types,
    description: endpoint.description,
    state: endpoint.disabledAt === null ? 'enabled' : 'disabled',
    disabled_at: time(endpoint.disabledAt),
    disabled_reason: endpoint.disabledReason,
    per_second: endpoint.perSecond,
    in_flight_max: endpoint.inFlightMax,
    failing_since: time(health.failingSince),
    /** It fails so often that it is asked again only now and then. */
    spared_until: health.openUntil === null ? null : iso(Math.max(health.openUntil, now)),
    last_success_at: time(health.succeededAt),
    secrets: secrets.map(({ createdAt, expiresAt }) => ({
      created_at: iso(createdAt),
      expires_at: time(expiresAt),
    })),
    created_at: iso(endpoint.createdAt),
  };
}

export type ShownEndpoint = ReturnType<typeof toEndpoint>;

export function printEndpoints(endpoints: ShownEndpoint[]): string {
  return table(
    endpoints.map((one) => ({
      id: one.id,
      url: one.url,
      types: one.types?.join(',') ?? 'all',
      state: one.disabled_reason === null ? one.state : `${one.state} (${one.disabled_reason})`,
      failing_since: one.failing_since,
      last_success_at: one.last_success_at,
      description: one.description,
    })),
    'There is no endpoint yet: webhook create --url makes one',
  );
}

export type Secret = { id: string; secret: string };

export function printCreated({ id, secret }: Secret): string {
  return [
    `Endpoint ${id} is told from now on. Its secret is shown this once:`,
    secret,
    `Try it: webhook test --endpoint ${id}`,
  ].join('\n');
}

export function printRotated({ secret }: Secret): string {
  return `The new secret is shown this once:\n${secret}`;
}

export function toDelivery(delivery: ShownDelivery) {
  return {
    id: messageName(delivery.messageId),
    endpoint_id: delivery.endpointId,
    type: delivery.type,
    state: delivery.state,
    erased: delivery.isErased,
    created_at: iso(delivery.createdAt),
    next_at: time(delivery.nextAt),
    delivered_at: time(delivery.deliveredAt),
    attempts: delivery.attempts.map((attempt) => ({
      number: attempt.number,
      trigger: attempt.trigger,
      at: iso(attempt.startedAt),
      ended_at: time(attempt.endedAt),
      url: attempt.url,
      status: attempt.status,
      error: attempt.error,
      answer: attempt.answer,
    })),
  };
}

export type ListedDelivery = ReturnType<typeof toDelivery>;

export function printDeliveries(deliveries: ListedDelivery[], ifNone: string): string {
  return table(
    deliveries.map(({ attempts, ...one }) => ({
      id: one.id,
      endpoint_id: one.endpoint_id,
      type: one.type,
      state: one.state,
      attempts: attempts.length,
      last: said(attempts.at(-1)),
      created_at: one.created_at,
      next_at: one.next_at,
    })),
    ifNone,
  );
}

/** Some servers answer with whole pages; all that is kept of them is in the JSON. */
const ANSWER_SHOWN = 200;

/** One, with each attempt and what was answered to it. */
export function printDelivery(delivery: ListedDelivery): string {
  const rows = delivery.attempts.map((attempt) => ({
    attempt: attempt.number,
    at: attempt.at,
    trigger: attempt.trigger,
    result: said(attempt),
    answer: attempt.answer?.slice(0, ANSWER_SHOWN) ?? null,
  }));
  const { id, type, state } = delivery;
  const head = `${id} (${type}) is ${state} ${BY_STATE[state]} endpoint ${delivery.endpoint_id}`;
  return `${head}\n${table(rows, UNTRIED[state] ?? 'It was not tried yet')}`;
}

const BY_STATE = {
  pending: 'for',
  delivering: 'to',
  delivered: 'to',
  exhausted: 'for',
  missed: 'by',
  cancelled: 'for',
} as const satisfies Record<DeliveryState, string>;

const UNTRIED: Partial<Record<DeliveryState, string>> = {
  missed: 'It was not tried: webhook replay --missed sends it',
  cancelled: 'It was not tried, and will not be',
};

function said(attempt: ListedDelivery['attempts'][number] | undefined): string | null {
  if (!attempt) return null;
  return [attempt.status, attempt.error].filter((part) => part !== null).join(' ') || 'under way';
}

function time(at: number | null): string | null {
  return at === null ? null : iso(at);
}
