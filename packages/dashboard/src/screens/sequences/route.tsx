import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';

export const sequencesRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'sequences',
  component: lazyRouteComponent(() => import('./sequences-screen.tsx'), 'SequencesScreen'),
});

export const sequenceRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'sequences/$rule',
  component: lazyRouteComponent(() => import('./sequence-screen.tsx'), 'SequenceScreen'),
});
