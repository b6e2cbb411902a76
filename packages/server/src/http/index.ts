export { type AddressGuard, createAddressGuard } from './address-guard.ts';
export { createBodyShares } from './body.ts';
export type { HttpDeps } from './deps.ts';
export { createRedirectServer, type EdgeConfig, reloadCertificate, type TlsFiles } from './edge.ts';
export type { HealthDeps, Readiness } from './health.ts';
export type { Release } from './dashboard/installation.ts';
export { createMetrics, type Metrics } from './metrics.ts';
export { watchDatabase } from './metrics-database.ts';
export { type EmbeddedData, watchEmbedded } from './metrics-machine.ts';
export { createMetricsServer } from './metrics-server.ts';
export { createHttpServer } from './server.ts';
export { type AppState, mountApp, readAppFiles } from './app/index.ts';
export {
  createBacktestPlaces,
  createDashboardApi,
  createFeeds,
  DASHBOARD_ROUTES,
  type DashboardApi,
  type DashboardDeps,
  type Feeds,
  type Installation,
} from './dashboard/index.ts';
export { createLocalShellServer } from './local-shell-server.ts';
export { mountChoices } from './choices/index.ts';
export { type GuideState, mountGuide, readGuide } from './guide/index.ts';
export { mountSandbox } from './sandbox/index.ts';
export { startMailIn } from './mail-in/index.ts';
export { mountProbe, mountTracking, type TrackingDeps } from './track/index.ts';
export { type TransportRules, transportRules } from './transport.ts';
