import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../app/roots.tsx';
import { flag, oneOf, searchOf, text } from '../../parts/search.ts';

export const scheduleRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'schedule',
  validateSearch: searchOf({ hour: text, show: oneOf('held', 'expires'), zone: text, try: flag }),
  component: lazyRouteComponent(() => import('./schedule-screen.tsx'), 'ScheduleScreen'),
});
