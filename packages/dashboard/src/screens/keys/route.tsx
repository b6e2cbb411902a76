import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';

export const keysRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'keys',
  component: lazyRouteComponent(() => import('./keys-screen.tsx'), 'KeysScreen'),
});
