import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';
import { searchOf, text } from '../../parts/search.ts';

export const requestsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'requests',
  validateSearch: searchOf({ filter: text, request: text }),
  component: lazyRouteComponent(() => import('./requests-screen.tsx'), 'RequestsScreen'),
});
