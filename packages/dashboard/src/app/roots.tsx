import { createRootRoute, createRoute, lazyRouteComponent, Outlet } from '@tanstack/react-router';
import { NotFound } from './not-found.tsx';

/** The root routes. A screen's `route.tsx` has one of them as its parent. */
export const rootRoute = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

/** One project, for a signed-in member: the sidebar, the top bar, the feed. */
export const projectRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/p/$project',
  component: lazyRouteComponent(() => import('./shell.tsx'), 'Shell'),
});

/** Pages outside of projects: sign-in, set-up, the profile. */
export const outsideRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'outside',
  component: lazyRouteComponent(() => import('./outside.tsx'), 'Outside'),
});
