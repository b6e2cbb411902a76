import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';

export const senderRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'sender',
  component: lazyRouteComponent(() => import('./sender-screen.tsx'), 'SenderScreen'),
});
