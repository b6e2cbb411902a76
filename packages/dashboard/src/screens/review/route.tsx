import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';
import { oneOf, searchOf, text } from '../../parts/search.ts';

const pane = oneOf('desktop', 'mobile', 'dark', 'text', 'headers', 'checks');

/** All that waits for a person, letter by letter. */
export const reviewRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'review',
  validateSearch: searchOf({ filter: text, draft: text, pane }),
  component: lazyRouteComponent(() => import('./review-screen.tsx'), 'ReviewScreen'),
});

/** One of them by itself, whatever has become of it. */
export const draftRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'drafts/$draft',
  validateSearch: searchOf({ tab: oneOf('preview', 'edit', 'diff', 'why', 'history'), pane }),
  component: lazyRouteComponent(() => import('./draft-screen.tsx'), 'DraftScreen'),
});
