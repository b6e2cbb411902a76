import {
  createRootRoute,
  createRoute,
  lazyRouteComponent,
  Outlet,
  redirect,
  type RouteComponent,
} from '@tanstack/react-router';
import { loadPart } from '../parts/load-part.ts';
import { searchOf, type Shape } from '../parts/search.ts';
import { presentPath } from './former-paths.ts';
import { NotFound } from './not-found.tsx';

/** A screen that is loaded when its page is opened. */
export const lazyPage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(() => loadPart(load), name);

/** The root routes. Each page has one of them as its parent. */
export const rootRoute = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFound,
  beforeLoad: ({ location: { pathname, searchStr, hash } }) => {
    const present = presentPath(pathname);
    if (present === null) return;
    throw redirect({ href: `${present}${searchStr}${hash === '' ? '' : `#${hash}`}`, replace: true });
  },
});

/** One project, for a signed-in member: the sidebar, the top bar, the feed. */
export const projectRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/p/$project',
  component: lazyPage(() => import('./shell.tsx'), 'Shell'),
});

/** Pages outside of projects: sign-in, set-up, the profile. */
export const outsideRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'outside',
  component: lazyPage(() => import('./outside.tsx'), 'Outside'),
});

export function projectPage<const Path extends string, S extends Shape>(path: Path, ...page: Page<S>) {
  return createRoute({ getParentRoute: () => projectRoute, path, ...optionsOf(...page) });
}

export function outsidePage<const Path extends string, S extends Shape>(path: Path, ...page: Page<S>) {
  return createRoute({ getParentRoute: () => outsideRoute, path, ...optionsOf(...page) });
}

type Page<S extends Shape> = [search: S, screen: RouteComponent];

function optionsOf<S extends Shape>(...[search, component]: Page<S>) {
  return { validateSearch: searchOf(search), component };
}
