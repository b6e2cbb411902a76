import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';

export const policyRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'policy',
  component: lazyRouteComponent(() => import('./policy-screen.tsx'), 'PolicyScreen'),
});
