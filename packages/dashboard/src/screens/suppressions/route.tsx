import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';
import { searchOf, text } from '../../parts/search.ts';

export const suppressionsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'suppressions',
  validateSearch: searchOf({ filter: text, tab: text, row: text, check: text }),
  component: lazyRouteComponent(() => import('./suppressions-screen.tsx'), 'SuppressionsScreen'),
});
