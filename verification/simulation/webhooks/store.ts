import type { Health } from '../../../packages/server/src/modules/webhooks/endpoints/health.ts';
import type { DeliveryState } from '../../../packages/server/src/modules/webhooks/deliveries/webhook.ts';

export type Attempt = {
  startedAt: number;
  endedAt: number | null;
  status: number | null;
  error: string | null;
};
export type Delivery = {
  endpointId: string;
  webhookId: string;
  state: DeliveryState;
  tries: number;
  nextAt: number | null;
  attempts: Attempt[];
};
export type Endpoint = {
  id: string;
  perSecond: number;
  inFlightMax: number;
  health: Health;
  disabledAt: number | null;
};
export type Store = { endpoints: Map<string, Endpoint>; deliveries: Map<string, Delivery> };

export function keyOf({ endpointId, webhookId }: Pick<Delivery, 'endpointId' | 'webhookId'>): string {
  return `${endpointId} ${webhookId}`;
}

export function deliveriesOf(store: Store, endpointId: string): Delivery[] {
  return [...store.deliveries.values()].filter((delivery) => delivery.endpointId === endpointId);
}

export function inFlight(store: Store, endpointId: string): number {
  return deliveriesOf(store, endpointId).filter(({ state }) => state === 'delivering').length;
}
