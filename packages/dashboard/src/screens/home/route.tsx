import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';

export const homeRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'home',
  component: lazyRouteComponent(() => import('./home-screen.tsx'), 'HomeScreen'),
});
