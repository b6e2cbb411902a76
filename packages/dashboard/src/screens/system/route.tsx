import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';

export const systemRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'system',
  component: lazyRouteComponent(() => import('./system-screen.tsx'), 'SystemScreen'),
});
