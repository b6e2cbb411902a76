import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';
import { searchOf, text } from '../../parts/search.ts';

export const liveRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'live',
  validateSearch: searchOf({ filter: text, item: text }),
  component: lazyRouteComponent(() => import('./live-screen.tsx'), 'LiveScreen'),
});
