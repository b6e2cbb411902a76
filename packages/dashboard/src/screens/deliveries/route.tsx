import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';
import { searchOf, text } from '../../parts/search.ts';

export const deliveriesRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'deliveries',
  validateSearch: searchOf({ filter: text, message: text }),
  component: lazyRouteComponent(() => import('./deliveries-screen.tsx'), 'DeliveriesScreen'),
});

export const deliveryRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'deliveries/$message',
  validateSearch: searchOf({ tab: text }),
  component: lazyRouteComponent(() => import('./delivery-screen.tsx'), 'DeliveryScreen'),
});
