import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';
import { searchOf, text } from '../../parts/search.ts';

export const domainsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'domains',
  validateSearch: searchOf({ domain: text }),
  component: lazyRouteComponent(() => import('./domains-screen.tsx'), 'DomainsScreen'),
});
