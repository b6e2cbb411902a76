import { audienceTestRoutes } from '../modules/processing/test-audience-routes.ts';
import { audienceRoutes } from '../modules/audiences/routes.ts';
import { clockRoutes } from '../http/dashboard/clock.ts';
import { dataRoutes } from '../http/dashboard/data.ts';
import { deviceRoutes } from '../modules/workspace/tokens/device-routes.ts';
import { domainRoutes } from '../modules/sending/domains/routes.ts';
import { draftBulkRoutes } from '../http/dashboard/drafts-bulk.ts';
import { draftLetterRoutes } from '../http/dashboard/drafts-letter.ts';
import { draftMoveRoutes } from '../http/dashboard/drafts-moves.ts';
import { draftRoutes } from '../http/dashboard/drafts.ts';
import { emailRoutes } from '../http/dashboard/emails.ts';
import { eventRoutes } from '../modules/audiences/event-routes.ts';
import { feedRoutes } from '../modules/users/activity/feed-routes.ts';
import { homeRoutes } from '../http/dashboard/home.ts';
import { importRoutes } from '../modules/imports/routes.ts';
import { insightRoutes } from '../modules/rules/insights/routes.ts';
import { keyRoutes } from '../modules/ingest/keys/routes.ts';
import { listenRoutes } from '../modules/webhooks/listeners/routes.ts';
import { organizationRoutes } from '../modules/workspace/members/organization-routes.ts';
import { onePersonRoutes } from '../http/dashboard/people-one.ts';
import { viewRoutes } from '../http/dashboard/people-views.ts';
import { personRoutes } from '../http/dashboard/people.ts';
import { projectRoutes } from '../http/dashboard/projects.ts';
import { replyRoutes } from '../http/dashboard/replies.ts';
import { requestRoutes } from '../modules/ingest/api/request-routes.ts';
import { ruleActRoutes } from '../modules/rules/action-routes.ts';
import { ruleBacktestRoutes } from '../http/dashboard/rules-backtest.ts';
import { ruleEnrollRoutes } from '../modules/rules/enrollment/routes.ts';
import { ruleReadRoutes } from '../modules/rules/read-routes.ts';
import { ruleRoutes } from '../modules/rules/routes.ts';
import { scheduleRoutes } from '../http/dashboard/schedule.ts';
import { sequenceRoutes } from '../modules/rules/sequence-routes.ts';
import { setUpRoutes } from '../http/dashboard/set-up.ts';
import { settingRoutes } from '../http/dashboard/settings.ts';
import { suppressionCheckRoutes } from '../http/dashboard/suppression-check.ts';
import { suppressionRoutes } from '../modules/outcomes/suppressions/routes.ts';
import { systemRoutes } from '../http/dashboard/system.ts';
import { auditRoutes } from '../modules/workspace/audit/routes.ts';
import { confirmRoutes, factorRoutes } from '../modules/workspace/members/factors-routes.ts';
import { linkRoutes } from '../modules/workspace/members/links-routes.ts';
import { inviteRoutes, memberRoutes } from '../modules/workspace/members/members-routes.ts';
import { profileRoutes } from '../modules/workspace/members/profile-routes.ts';
import { sessionRoutes } from '../modules/workspace/members/session-routes.ts';
import { templateRoutes } from '../modules/templates/routes.ts';
import { testInboxRoutes } from '../http/dashboard/test-inbox.ts';
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
