import { createRootRoute, createRoute, lazyRouteComponent, Outlet } from '@tanstack/react-router';
import { NotFound } from './not-found.tsx';

/** The three that all screens hang on. A screen's `route.tsx` takes one of them as its parent. */
export const rootRoute = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

/** Whoever is signed in, in one project: the rail, the bar, the feed. */
export const projectRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/p/$project',
  component: lazyRouteComponent(() => import('./shell.tsx'), 'Shell'),
});

/** Pages that stand in no project: signing in, set-up, the profile. */
export const outsideRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'outside',
  component: lazyRouteComponent(() => import('./outside.tsx'), 'Outside'),
});
