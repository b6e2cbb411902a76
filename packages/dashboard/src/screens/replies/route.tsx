import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';
import { searchOf, text } from '../../parts/search.ts';

export const repliesRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'replies',
  validateSearch: searchOf({ filter: text, reply: text }),
  component: lazyRouteComponent(() => import('./replies-screen.tsx'), 'RepliesScreen'),
});
