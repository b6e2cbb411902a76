import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';

export const teamRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'team',
  component: lazyRouteComponent(() => import('./team-screen.tsx'), 'TeamScreen'),
});
