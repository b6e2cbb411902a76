import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';
import { searchOf, text } from '../../parts/search.ts';

export const webhooksRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'webhooks',
  component: lazyRouteComponent(() => import('./webhooks-screen.tsx'), 'WebhooksScreen'),
});

export const endpointRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'webhooks/$endpoint',
  validateSearch: searchOf({ filter: text, delivery: text }),
  component: lazyRouteComponent(() => import('./endpoint-screen.tsx'), 'EndpointScreen'),
});
