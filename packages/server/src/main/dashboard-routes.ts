import { projectRoutes } from '../modules/administration/project-routes.ts';
import { setUpRoutes } from '../modules/administration/set-up-routes.ts';
import { settingRoutes } from '../modules/administration/setting-routes.ts';
import { eventRoutes } from '../modules/audiences/event-routes.ts';
import type { ListRuleNeeds } from '../modules/audiences/index.ts';
import { audienceRoutes } from '../modules/audiences/routes.ts';
import type { OpenRelayTransport, SendServices } from '../modules/delivery/index.ts';
import { ruleBacktestRoutes } from '../modules/rules/backtest/routes.ts';
import { suppressionCheckRoutes } from '../modules/explain/suppression-check-routes.ts';
import { importRoutes } from '../modules/imports/routes.ts';
import { requestRoutes } from '../modules/ingest/api/request-routes.ts';
import { keyRoutes } from '../modules/ingest/keys/routes.ts';
import { testEventRoutes } from '../modules/ingest/test-event/routes.ts';
import { dataRoutes } from '../modules/operations/retention/routes.ts';
import { streamExportRoutes } from '../modules/ingest/activity/export-routes.ts';
import { systemRoutes } from '../modules/operations/system-routes.ts';
import { suppressionRoutes } from '../modules/outcomes/suppressions/routes.ts';
import { topicRoutes } from '../modules/outcomes/suppressions/topic-routes.ts';
import { audienceTestRoutes } from '../modules/processing/test-audience-routes.ts';
import { personRoutes } from '../modules/profiles/routes.ts';
import { userRoutes } from '../modules/profiles/user-routes.ts';
import { viewRoutes } from '../modules/profiles/view-routes.ts';
import { draftMoveRoutes } from '../modules/review/action-routes.ts';
import { draftBulkRoutes } from '../modules/review/bulk-routes.ts';
import { replyRoutes } from '../modules/review/emails/reply-routes.ts';
import { emailRoutes } from '../modules/review/emails/routes.ts';
import { testInboxRoutes } from '../modules/review/emails/test-inbox-routes.ts';
import { decidedRoutes } from '../modules/review/decided-routes.ts';
import { homeRoutes } from '../modules/review/home-routes.ts';
import { draftEmailRoutes } from '../modules/review/preview-routes.ts';
import { draftRoutes } from '../modules/review/routes.ts';
import { scheduleRoutes } from '../modules/review/schedule-routes.ts';
import { ruleActRoutes } from '../modules/rules/action-routes.ts';
import { ruleEnrollRoutes } from '../modules/rules/enrollment/routes.ts';
import type { Models, BacktestSlots } from '../modules/rules/index.ts';
import { insightRoutes } from '../modules/rules/insights/routes.ts';
import { ruleReadRoutes } from '../modules/rules/read-routes.ts';
import { ruleRoutes } from '../modules/rules/routes.ts';
import { ruleFlowRoutes } from '../modules/rules/flow/routes.ts';
import { clockRoutes } from '../modules/sandbox/routes.ts';
import { domainRoutes } from '../modules/sending/domains/routes.ts';
import { relayFeedbackRoutes } from '../modules/inbound/feedback/routes.ts';
import { replySourceRoutes } from '../modules/inbound/reply-sources/routes.ts';
import { relayRoutes } from '../modules/sending/relays/routes.ts';
import type { MailSettings, RestoreGuard, SuppressionHasher } from '../modules/sending/index.ts';
import { templateRoutes } from '../modules/templates/routes.ts';
import { feedRoutes } from '../modules/ingest/activity/feed-routes.ts';
import { webhookDeliveryRoutes } from '../modules/webhooks/deliveries/routes.ts';
import { webhookRoutes } from '../modules/webhooks/endpoints/routes.ts';
import type { WebhookSettings } from '../modules/webhooks/index.ts';
import { listenRoutes } from '../modules/webhooks/listeners/routes.ts';
import { auditRoutes } from '../modules/workspace/audit/routes.ts';
import type {
  AccountEmails,
  DashboardRoute,
  Installation,
  KitDeps,
  Release,
  Team,
} from '../modules/workspace/index.ts';
import { confirmRoutes, factorRoutes } from '../modules/workspace/members/factors-routes.ts';
import { linkRoutes } from '../modules/workspace/members/links-routes.ts';
import { inviteRoutes, memberRoutes } from '../modules/workspace/members/members-routes.ts';
import { organizationRoutes } from '../modules/workspace/members/organization-routes.ts';
import { profileRoutes } from '../modules/workspace/members/profile-routes.ts';
import { searchRoutes } from '../modules/search/routes.ts';
import { sessionRoutes } from '../modules/workspace/members/session-routes.ts';
import { deviceRoutes } from '../modules/workspace/tokens/device-routes.ts';
import { tokenRoutes } from '../modules/workspace/tokens/routes.ts';
import type { TokenKeys } from '../platform/crypto/email-token.ts';
import type { Encrypter } from '../platform/crypto/encrypt.ts';
import type { Resolver } from '../platform/dns/resolver.ts';
import type { OpenRelay } from '../platform/mail/submit.ts';
import type { ResolveHost } from '../platform/outbound/host-guard.ts';
import type { Outbound } from '../platform/outbound/outbound.ts';
import type { RelayKinds } from '../platform/relays/kinds.ts';

/** The dependencies of all routes together. */
export type DashboardDeps = KitDeps & {
  /** Like `access`, with sign-in, invitations and accounts. */
  team: Team;
  /** Wakes the processor after a member queued a record. */
  wake: () => void;
  encrypter: Encrypter;
  /** Hashes the suppressed addresses of erased users. */
  hasher: SuppressionHasher;
  tokenKeys: TokenKeys;
  sendServices: SendServices;
  accountEmails: AccountEmails;
  listRuleNeeds: ListRuleNeeds;
  /** Definitions, read once and again when they change. */
  models: Models;
  mail: MailSettings;
  resolver: Resolver;
  /** The relay for test emails. */
  openRelay: OpenRelay;
  relayKinds: RelayKinds;
  /** `SMTP_URL`, to test the relay. */
  smtpUrl: string | null;
  restoreGuard?: RestoreGuard | undefined;
  /** Returns which hosts the SMTP relays of a project may have. */
  resolveHostOf(relay: { projectId: number }): ResolveHost;
  /** Opens relays of projects, for test emails. */
  openRelayTransport: OpenRelayTransport;
  /** Connects to hosts that customers named; the caller that opens it closes it. */
  openOutbound: () => Outbound;
  webhooks: WebhookSettings;
  release: Release;
  installation: Installation;
  /** The maximum number of projects of an organization. */
  projectsMax: number;
  /** Client name, in lower case → the least version that the operator requires. */
  minimumVersions: ReadonlyMap<string, string>;
  backtests: BacktestSlots;
};

/** All routes of the dashboard. `docs/reference/access-control.md` lists by hand who may use them, and a test compares both. */
export const DASHBOARD_ROUTES: DashboardRoute<DashboardDeps>[] = [
  ...audienceTestRoutes,
  ...audienceRoutes,
  ...clockRoutes,
  ...dataRoutes,
  ...streamExportRoutes,
  ...decidedRoutes,
  ...deviceRoutes,
  ...domainRoutes,
  ...draftBulkRoutes,
  ...draftEmailRoutes,
  ...draftMoveRoutes,
  ...draftRoutes,
  ...emailRoutes,
  ...eventRoutes,
  ...feedRoutes,
  ...homeRoutes,
  ...importRoutes,
  ...insightRoutes,
  ...keyRoutes,
  ...listenRoutes,
  ...organizationRoutes,
  ...userRoutes,
  ...viewRoutes,
  ...personRoutes,
  ...projectRoutes,
  ...relayFeedbackRoutes,
  ...relayRoutes,
  ...replyRoutes,
  ...replySourceRoutes,
  ...requestRoutes,
  ...ruleActRoutes,
  ...ruleBacktestRoutes,
  ...ruleEnrollRoutes,
  ...ruleReadRoutes,
  ...ruleRoutes,
  ...scheduleRoutes,
  ...searchRoutes,
  ...ruleFlowRoutes,
  ...setUpRoutes,
  ...settingRoutes,
  ...suppressionCheckRoutes,
  ...suppressionRoutes,
  ...topicRoutes,
  ...systemRoutes,
  ...auditRoutes,
  ...confirmRoutes,
  ...factorRoutes,
  ...linkRoutes,
  ...inviteRoutes,
  ...memberRoutes,
  ...profileRoutes,
  ...sessionRoutes,
  ...templateRoutes,
  ...testInboxRoutes,
  ...tokenRoutes,
  ...testEventRoutes,
  ...webhookDeliveryRoutes,
  ...webhookRoutes,
];
