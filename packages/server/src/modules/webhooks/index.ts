export { eraseWebhooks, forgetWebhooks, insertWebhooks } from './deliveries/store.ts';
export {
  countWebhooks,
  listLateWebhookProjects,
  listWebhookDeliveries,
  nextDeliveryAt,
} from './deliveries/reads.ts';
export { type NewWebhook, webhookName } from './deliveries/webhook.ts';
export { createDelivery } from './dispatch/dispatch.ts';
export { type WebhookDispatcher, startWebhookDispatcher } from './dispatch/dispatcher.ts';
export { createEndpoint, disableEndpoint } from './endpoints/change-endpoint.ts';
export type { WebhookSettings } from './endpoints/endpoint.ts';
export { type EndpointState, listFailingEndpoints, listEndpoints, lockEndpoints } from './endpoints/reads.ts';
export { reencryptSecrets } from './endpoints/secrets.ts';
export { reencryptListeners } from './listeners/listener.ts';
