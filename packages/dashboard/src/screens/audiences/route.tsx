import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';
import { searchOf, text } from '../../parts/search.ts';

export const audiencesRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'audiences',
  validateSearch: searchOf({ filter: text, audience: text }),
  component: lazyRouteComponent(() => import('./audiences-screen.tsx'), 'AudiencesScreen'),
});

/** `new`: a new audience. */
export const audienceRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'audiences/$audience',
  validateSearch: searchOf({ tab: text, user: text }),
  component: lazyRouteComponent(() => import('./audience-screen.tsx'), 'AudienceScreen'),
});
