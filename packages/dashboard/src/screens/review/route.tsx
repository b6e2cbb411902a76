import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';
import { oneOf, searchOf, text } from '../../parts/search.ts';

const pane = oneOf('desktop', 'mobile', 'dark', 'text', 'headers', 'checks');

/** All waiting drafts. */
export const reviewRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'review',
  validateSearch: searchOf({ filter: text, draft: text, pane }),
  component: lazyRouteComponent(() => import('./review-screen.tsx'), 'ReviewScreen'),
});

/** One draft on its own page, in any state. */
export const draftRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'drafts/$draft',
  validateSearch: searchOf({ tab: oneOf('preview', 'edit', 'diff', 'why', 'history'), pane }),
  component: lazyRouteComponent(() => import('./draft-screen.tsx'), 'DraftScreen'),
});
