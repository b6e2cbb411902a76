import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';
import { searchOf, text } from '../../parts/search.ts';

export const rulesRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'rules',
  validateSearch: searchOf({ filter: text }),
  component: lazyRouteComponent(() => import('./rules-screen.tsx'), 'RulesScreen'),
});

export const ruleRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'rules/$rule',
  validateSearch: searchOf({ tab: text, event: text }),
  component: lazyRouteComponent(() => import('./rule-screen.tsx'), 'RuleScreen'),
});
