import { createRouter } from '@tanstack/react-router';
import { Broken } from './broken.tsx';
import { inProject, outside } from './pages.ts';
import { outsideRoute, projectRoute, rootRoute } from './roots.tsx';

/** A filter, a tab or a row in the URL does not change the scroll position. */
let isOtherPage = true;

export const router = createRouter({
  routeTree: rootRoute.addChildren([projectRoute.addChildren(inProject), outsideRoute.addChildren(outside)]),
  defaultPreload: 'intent',
  scrollRestoration: ({ location }) => isOtherPage || location.hash !== '',
  defaultErrorComponent: Broken,
});

router.subscribe('onBeforeLoad', ({ pathChanged, fromLocation }) => {
  isOtherPage = pathChanged || fromLocation === undefined;
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
