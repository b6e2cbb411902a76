import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';
import { searchOf, text } from '../../parts/search.ts';

export const usersRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'users',
  validateSearch: searchOf({ filter: text, view: text, user: text }),
  component: lazyRouteComponent(() => import('./users-screen.tsx'), 'UsersScreen'),
});

export const userRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'users/$user',
  validateSearch: searchOf({ at: text, tab: text }),
  component: lazyRouteComponent(() => import('./user-screen.tsx'), 'UserScreen'),
});
