import type { DeliveryState } from '../features/webhooks/index.ts';
import type { ListedDelivery, ShownEndpoint } from '../flows/shown-webhooks.ts';
import { table } from './table.ts';

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
    answer: attempt.response?.slice(0, ANSWER_SHOWN) ?? null,
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
  canceled: 'for',
} as const satisfies Record<DeliveryState, string>;

const UNTRIED: Partial<Record<DeliveryState, string>> = {
  missed: 'It was not tried: webhook replay --missed sends it',
  canceled: 'It was not tried, and will not be',
};

function said(attempt: ListedDelivery['attempts'][number] | undefined): string | null {
  if (!attempt) return null;
  return [attempt.status, attempt.error].filter((part) => part !== null).join(' ') || 'under way';
}
