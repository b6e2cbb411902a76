import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';

export const dataRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'data',
  component: lazyRouteComponent(() => import('./data-screen.tsx'), 'DataScreen'),
});
