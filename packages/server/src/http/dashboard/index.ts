import { audienceRoutes } from './audiences.ts';
import { clockRoutes } from './clock.ts';
import { dataRoutes } from './data.ts';
import { emailRoutes } from './emails.ts';
import { deviceRoutes } from './device.ts';
import { domainRoutes } from './domains.ts';
import { draftRoutes } from './drafts.ts';
import { eventRoutes } from './events.ts';
import { feedRoutes } from './feed.ts';
import { homeRoutes } from './home.ts';
import { importRoutes } from './imports.ts';
import { insightRoutes } from './insights.ts';
import { keyRoutes } from './keys.ts';
import { listenRoutes } from './listen.ts';
import { organizationRoutes } from './organizations.ts';
import { personRoutes } from './people.ts';
import { projectRoutes } from './projects.ts';
import { requestRoutes } from './requests.ts';
import { ruleRoutes } from './rules.ts';
import { scheduleRoutes } from './schedule.ts';
import { sequenceRoutes } from './sequences.ts';
import { settingRoutes } from './settings.ts';
import { suppressionRoutes } from './suppressions.ts';
import { systemRoutes } from './system.ts';
import { teamRoutes } from './team.ts';
import { templateRoutes } from './templates.ts';
import { tokenRoutes } from './tokens.ts';
import { webhookRoutes } from './webhooks.ts';
import type { DashboardDeps } from './deps.ts';
import type { DashboardRoute } from './route.ts';

export { createBacktestPlaces } from './backtest-places.ts';
export type { DashboardDeps } from './deps.ts';
export { createFeeds, type Feeds } from './feeds.ts';
export type { Installation } from './installation.ts';
export { createDashboardApi, type DashboardApi } from './mount.ts';

/** All routes of the dashboard. `docs/reference/access-control.md` lists by hand who may use them, and a test compares both. */
export const DASHBOARD_ROUTES: DashboardRoute<DashboardDeps>[] = [
  ...audienceRoutes,
  ...clockRoutes,
  ...dataRoutes,
  ...emailRoutes,
  ...deviceRoutes,
  ...domainRoutes,
  ...draftRoutes,
  ...eventRoutes,
  ...feedRoutes,
  ...homeRoutes,
  ...importRoutes,
  ...insightRoutes,
  ...keyRoutes,
  ...listenRoutes,
  ...organizationRoutes,
  ...personRoutes,
  ...projectRoutes,
  ...requestRoutes,
  ...ruleRoutes,
  ...scheduleRoutes,
  ...sequenceRoutes,
  ...settingRoutes,
  ...suppressionRoutes,
  ...systemRoutes,
  ...teamRoutes,
  ...templateRoutes,
  ...tokenRoutes,
  ...webhookRoutes,
];
