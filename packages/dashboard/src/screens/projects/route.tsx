import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { outsideRoute } from '../../app/roots.tsx';

export const projectsRoute = createRoute({
  getParentRoute: () => outsideRoute,
  path: '/projects',
  component: lazyRouteComponent(() => import('./projects-screen.tsx'), 'ProjectsScreen'),
});
