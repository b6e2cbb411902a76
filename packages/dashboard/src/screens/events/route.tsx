import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';
import { searchOf, text } from '../../parts/search.ts';

export const eventsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'events',
  validateSearch: searchOf({ filter: text, event: text }),
  component: lazyRouteComponent(() => import('./events-screen.tsx'), 'EventsScreen'),
});
