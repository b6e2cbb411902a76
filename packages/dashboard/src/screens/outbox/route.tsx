import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';
import { searchOf, text, whole } from '../../parts/search.ts';

export const outboxRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'outbox',
  validateSearch: searchOf({ filter: text }),
  component: lazyRouteComponent(() => import('./outbox-screen.tsx'), 'OutboxScreen'),
});

export const keptMailRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'outbox/$message',
  validateSearch: searchOf({ tab: text, copy: whole }),
  component: lazyRouteComponent(() => import('./kept-mail-screen.tsx'), 'KeptMailScreen'),
});
