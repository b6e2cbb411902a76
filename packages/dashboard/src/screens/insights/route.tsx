import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';
import { flag, searchOf, text } from '../../parts/search.ts';

export const insightsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'insights',
  validateSearch: searchOf({ by: text, range: text, sort: text, compare: flag }),
  component: lazyRouteComponent(() => import('./insights-screen.tsx'), 'InsightsScreen'),
});
