import type { DashboardRoute } from './route.ts';
import { auditRoutes } from './team-audit.ts';
import { confirmRoutes, factorRoutes } from './team-factors.ts';
import { linkRoutes } from './team-links.ts';
import { inviteRoutes, memberRoutes } from './team-members.ts';
import { profileRoutes } from './team-profile.ts';
import { sessionRoutes } from './team-session.ts';

export const teamRoutes: DashboardRoute[] = [
  ...sessionRoutes,
  ...linkRoutes,
  ...profileRoutes,
  ...factorRoutes,
  ...confirmRoutes,
  ...memberRoutes,
  ...inviteRoutes,
  ...auditRoutes,
];
