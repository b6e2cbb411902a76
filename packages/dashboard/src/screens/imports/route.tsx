import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';

export const importsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'imports',
  component: lazyRouteComponent(() => import('./imports-screen.tsx'), 'ImportsScreen'),
});

export const importRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'imports/$import',
  component: lazyRouteComponent(() => import('./import-screen.tsx'), 'ImportScreen'),
});
