import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';
import { searchOf, text } from '../../parts/search.ts';

export const emailsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'emails',
  validateSearch: searchOf({ filter: text, message: text }),
  component: lazyRouteComponent(() => import('./emails-screen.tsx'), 'EmailsScreen'),
});

export const emailRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'emails/$message',
  validateSearch: searchOf({ tab: text }),
  component: lazyRouteComponent(() => import('./email-screen.tsx'), 'EmailScreen'),
});
