import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';
import { searchOf, text } from '../../parts/search.ts';

export const templatesRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'templates',
  validateSearch: searchOf({ filter: text }),
  component: lazyRouteComponent(() => import('./templates-screen.tsx'), 'TemplatesScreen'),
});

export const templateRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'templates/$template',
  validateSearch: searchOf({ tab: text, user: text, at: text }),
  component: lazyRouteComponent(() => import('./template-screen.tsx'), 'TemplateScreen'),
});
