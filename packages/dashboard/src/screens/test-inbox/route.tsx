import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';
import { searchOf, text, whole } from '../../parts/search.ts';

export const testInboxRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'test-inbox',
  validateSearch: searchOf({ filter: text }),
  component: lazyRouteComponent(() => import('./test-inbox-screen.tsx'), 'TestInboxScreen'),
});

export const keptMailRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'test-inbox/$message',
  validateSearch: searchOf({ tab: text, copy: whole }),
  component: lazyRouteComponent(() => import('./kept-mail-screen.tsx'), 'KeptMailScreen'),
});
