import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';
import { oneOf, searchOf, text } from '../../parts/search.ts';

export const auditRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'audit',
  validateSearch: searchOf({
    action: text,
    actor: text,
    scope: oneOf('project', 'organization'),
    entry: text,
  }),
  component: lazyRouteComponent(() => import('./audit-screen.tsx'), 'AuditScreen'),
});
