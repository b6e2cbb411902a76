import { audienceTestRoutes } from '../modules/processing/test-audience-routes.ts';
import { audienceRoutes } from '../modules/audiences/routes.ts';
import { clockRoutes } from '../modules/sandbox/routes.ts';
import { dataRoutes } from '../modules/operations/retention/routes.ts';
import { deviceRoutes } from '../modules/workspace/tokens/device-routes.ts';
import { domainRoutes } from '../modules/sending/domains/routes.ts';
import { draftBulkRoutes } from '../modules/review/bulk-routes.ts';
import { draftLetterRoutes } from '../modules/review/preview-routes.ts';
import { draftMoveRoutes } from '../modules/review/action-routes.ts';
import { draftRoutes } from '../modules/review/routes.ts';
import { emailRoutes } from '../modules/review/emails/routes.ts';
import { eventRoutes } from '../modules/audiences/event-routes.ts';
import { feedRoutes } from '../modules/users/activity/feed-routes.ts';
import { homeRoutes } from '../modules/review/home-routes.ts';
import { importRoutes } from '../modules/imports/routes.ts';
import { insightRoutes } from '../modules/rules/insights/routes.ts';
import { keyRoutes } from '../modules/ingest/keys/routes.ts';
import { listenRoutes } from '../modules/webhooks/listeners/routes.ts';
import { organizationRoutes } from '../modules/workspace/members/organization-routes.ts';
import { onePersonRoutes } from '../modules/profiles/user-routes.ts';
import { viewRoutes } from '../modules/profiles/view-routes.ts';
import { personRoutes } from '../modules/profiles/routes.ts';
import { projectRoutes } from '../modules/administration/project-routes.ts';
import { replyRoutes } from '../modules/review/emails/reply-routes.ts';
import { requestRoutes } from '../modules/ingest/api/request-routes.ts';
import { ruleActRoutes } from '../modules/rules/action-routes.ts';
import { ruleBacktestRoutes } from '../modules/explain/backtest/routes.ts';
import { ruleEnrollRoutes } from '../modules/rules/enrollment/routes.ts';
import { ruleReadRoutes } from '../modules/rules/read-routes.ts';
import { ruleRoutes } from '../modules/rules/routes.ts';
import { scheduleRoutes } from '../modules/review/schedule-routes.ts';
import { sequenceRoutes } from '../modules/rules/sequence-routes.ts';
import { setUpRoutes } from '../modules/administration/set-up-routes.ts';
import { settingRoutes } from '../modules/administration/setting-routes.ts';
import { suppressionCheckRoutes } from '../modules/explain/suppression-check-routes.ts';
import { suppressionRoutes } from '../modules/outcomes/suppressions/routes.ts';
import { systemRoutes } from '../modules/operations/system-routes.ts';
import { auditRoutes } from '../modules/workspace/audit/routes.ts';
import { confirmRoutes, factorRoutes } from '../modules/workspace/members/factors-routes.ts';
import { linkRoutes } from '../modules/workspace/members/links-routes.ts';
import { inviteRoutes, memberRoutes } from '../modules/workspace/members/members-routes.ts';
import { profileRoutes } from '../modules/workspace/members/profile-routes.ts';
import { sessionRoutes } from '../modules/workspace/members/session-routes.ts';
import { templateRoutes } from '../modules/templates/routes.ts';
import { testInboxRoutes } from '../modules/review/emails/test-inbox-routes.ts';
import { tokenRoutes } from '../modules/workspace/tokens/routes.ts';
import { webhookDeliveryRoutes } from '../modules/webhooks/deliveries/routes.ts';
import { webhookRoutes } from '../modules/webhooks/endpoints/routes.ts';
import type { DashboardDeps } from './dashboard-deps.ts';
import type { DashboardRoute } from '../modules/workspace/index.ts';

/** All routes of the dashboard. `docs/reference/access-control.md` lists by hand who may use them, and a test compares both. */
export const DASHBOARD_ROUTES: DashboardRoute<DashboardDeps>[] = [
  ...audienceTestRoutes,
  ...audienceRoutes,
  ...clockRoutes,
  ...dataRoutes,
  ...deviceRoutes,
  ...domainRoutes,
  ...draftBulkRoutes,
  ...draftLetterRoutes,
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
  ...onePersonRoutes,
  ...viewRoutes,
  ...personRoutes,
  ...projectRoutes,
  ...replyRoutes,
  ...requestRoutes,
  ...ruleActRoutes,
  ...ruleBacktestRoutes,
  ...ruleEnrollRoutes,
  ...ruleReadRoutes,
  ...ruleRoutes,
  ...scheduleRoutes,
  ...sequenceRoutes,
  ...setUpRoutes,
  ...settingRoutes,
  ...suppressionCheckRoutes,
  ...suppressionRoutes,
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
  ...webhookDeliveryRoutes,
  ...webhookRoutes,
];
