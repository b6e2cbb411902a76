export { nextDeliveryAt } from './reads.ts';
export { insertMessages as queueWebhooks } from './store.ts';
export type { NewWebhookMessage } from './webhook.ts';
