import { audienceTestRoutes } from './audience-test.ts';
import { audienceRoutes } from './audiences.ts';
import { clockRoutes } from './clock.ts';
import { dataRoutes } from './data.ts';
import { deviceRoutes } from './device.ts';
import { domainRoutes } from './domains.ts';
import { draftBulkRoutes } from './drafts-bulk.ts';
import { draftLetterRoutes } from './drafts-letter.ts';
import { draftMoveRoutes } from './drafts-moves.ts';
import { draftRoutes } from './drafts.ts';
import { emailRoutes } from './emails.ts';
import { eventRoutes } from './events.ts';
import { feedRoutes } from './feed.ts';
import { homeRoutes } from './home.ts';
import { importRoutes } from './imports.ts';
import { insightRoutes } from './insights.ts';
import { keyRoutes } from './keys.ts';
import { listenRoutes } from './listen.ts';
import { organizationRoutes } from './organizations.ts';
import { onePersonRoutes } from './people-one.ts';
import { viewRoutes } from './people-views.ts';
import { personRoutes } from './people.ts';
import { projectRoutes } from './projects.ts';
import { replyRoutes } from './replies.ts';
import { requestRoutes } from './requests.ts';
import { ruleActRoutes } from './rules-act.ts';
import { ruleBacktestRoutes } from './rules-backtest.ts';
import { ruleEnrollRoutes } from './rules-enroll.ts';
import { ruleReadRoutes } from './rules-read.ts';
import { ruleRoutes } from './rules.ts';
import { scheduleRoutes } from './schedule.ts';
import { sequenceRoutes } from './sequences.ts';
import { setUpRoutes } from './set-up.ts';
import { settingRoutes } from './settings.ts';
import { suppressionCheckRoutes } from './suppression-check.ts';
import { suppressionRoutes } from './suppressions.ts';
import { systemRoutes } from './system.ts';
import { auditRoutes } from './team-audit.ts';
import { confirmRoutes, factorRoutes } from './team-factors.ts';
import { linkRoutes } from './team-links.ts';
import { inviteRoutes, memberRoutes } from './team-members.ts';
import { profileRoutes } from './team-profile.ts';
import { sessionRoutes } from './team-session.ts';
import { templateRoutes } from './templates.ts';
import { testInboxRoutes } from './test-inbox.ts';
import { tokenRoutes } from './tokens.ts';
import { webhookDeliveryRoutes } from './webhook-deliveries.ts';
import { webhookRoutes } from './webhooks.ts';
import type { DashboardDeps } from './deps.ts';
import type { DashboardRoute } from './route.ts';

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
