import type { AccountEmails, Team } from '../../features/team/index.ts';
import type { Release } from '../health.ts';
import type { KitDeps } from './deps.ts';
import type { Installation } from './installation.ts';
import type { DashboardRoute } from './route.ts';
import { auditRoutes } from './team-audit.ts';
import { confirmRoutes, factorRoutes } from './team-factors.ts';
import { linkRoutes } from './team-links.ts';
import { inviteRoutes, memberRoutes } from './team-members.ts';
import { profileRoutes } from './team-profile.ts';
import { sessionRoutes } from './team-session.ts';

type Deps = KitDeps & {
  accountEmails: AccountEmails;
  installation: Installation;
  release: Release;
  team: Team;
};

export const teamRoutes: DashboardRoute<Deps>[] = [
  ...sessionRoutes,
  ...linkRoutes,
  ...profileRoutes,
  ...factorRoutes,
  ...confirmRoutes,
  ...memberRoutes,
  ...inviteRoutes,
  ...auditRoutes,
];
