export { createEndpoint, type EndpointWanted, editEndpoint, type NewEndpoint } from './create-endpoint.ts';
export { type DisabledReason, type Endpoint, type EndpointPlace } from './endpoint.ts';
export { type Health, judge, mayClaim, refill, type Result } from './health.ts';
export {
  type EndpointState,
  listEndpoints,
  listEndpointTroubles,
  listLiveSecrets,
  lockEndpoints,
  lockFreeEndpoints,
} from './reads.ts';
export { requireEndpoint } from './require-endpoint.ts';
export { addSecret, openSecret, OVERLAP_DEFAULT_MS, resealSecrets } from './secrets.ts';
export { deleteEndpoint, type SealedSecret, updateDisabled, updateEnabled, updateHealth } from './store.ts';
export type { WebhookSettings } from './endpoint.ts';
